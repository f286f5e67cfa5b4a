/// What a wrapper learns from the engines inside of it during a call, in addition to the result.
///
/// Wrappers can be nested in any order, also around one that removes items on its own, or that answers from a copy. A
/// wrapper that remembers items performs the calls of its base in an `InnerCall`:
///
/// ```swift
/// let call = InnerCall()
/// let data = try await call { try await base.fetch(key: key) }
/// if !call.isFromCopy { keep(data) }
/// forget(call.evictedKeys)
/// ```
///
/// What is reported to a call is also reported to the one around it.
final class InnerCall: Sendable {
    private struct State {
        var evictedKeys: Set<CacheKey> = []
        var isFromCopy = false
    }

    @TaskLocal static var current: InnerCall?

    /// Whether the result must come from the engine itself. If only a copy can answer, the call fails.
    let needsOriginal: Bool

    private let outer = InnerCall.current
    private let outerKey: @Sendable (CacheKey) -> CacheKey?
    private let state = Locked(State())

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - needsOriginal: Whether the result must come from the engine itself.
    ///   - outerKey: Returns the key outside of the wrapper of an item inside of it, `nil` if it has none there.
    init(needsOriginal: Bool = false, outerKey: @escaping @Sendable (CacheKey) -> CacheKey? = { $0 }) {
        self.needsOriginal = needsOriginal || InnerCall.current?.needsOriginal == true
        self.outerKey = outerKey
    }

    /// Performs a call whose result must come from the engine itself.
    static func original<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await InnerCall(needsOriginal: true)(body)
    }

    /// Performs the call.
    func callAsFunction<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await Self.$current.withValue(self, operation: body)
    }

    /// The keys of the items that the engine may have removed on its own.
    var evictedKeys: Set<CacheKey> { state.withLock { $0.evictedKeys } }

    /// Whether the result may differ from the items of the engine, now or when its other writers change them.
    var isFromCopy: Bool { state.withLock { $0.isFromCopy } }

    /// Reports that items of the engine may have been removed.
    func evict(_ keys: some Sequence<CacheKey>) {
        state.withLock { $0.evictedKeys.formUnion(keys) }
        outer?.evict(keys.compactMap(outerKey))
    }

    /// Reports that the result comes from a copy.
    func answerFromCopy() {
        state.withLock { $0.isFromCopy = true }
        outer?.answerFromCopy()
    }
}
