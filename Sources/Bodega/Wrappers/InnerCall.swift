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
/// What is reported to a call is also reported to the one around it, unless it is a call of a second engine.
package final class InnerCall: Sendable {

    /// How an engine loses items on its own.
    enum Loss: Hashable, Sendable {
        /// It evicts items to keep within its limits, and has just done so.
        case eviction
        /// It can evict items. It reports each eviction before it removes the items.
        case limit
        /// Its items expire, which it can't report.
        case expiry
    }

    private struct State {
        var evictedKeys: Set<CacheKey> = []
        var isFromCopy = false
        var isFromOriginal = false
    }

    @TaskLocal static var current: InnerCall?

    /// Whether the result must come from the engine itself. If only a copy can answer, the call fails.
    let needsOriginal: Bool

    private let outer: InnerCall?
    private let outerKey: @Sendable (CacheKey) -> CacheKey?
    private let lost: @Sendable (Loss) -> Void
    private let expiring: (@Sendable (ItemExpiry) -> Void)?
    private let state = Locked(State())

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - needsOriginal: Whether the result must come from the engine itself.
    ///   - expiring: Receives the time at which each item expires that the call reads or writes.
    ///   - outerKey: Returns the key outside of the wrapper of an item inside of it, `nil` if it has none there.
    package init(
        needsOriginal: Bool = false, expiring: (@Sendable (ItemExpiry) -> Void)? = nil,
        outerKey: @escaping @Sendable (CacheKey) -> CacheKey? = { $0 }
    ) {
        outer = InnerCall.current
        self.needsOriginal = needsOriginal || outer?.needsOriginal == true
        self.outerKey = outerKey
        lost = { _ in }
        self.expiring = expiring
    }

    /// Creates a call of a second engine, whose losses do not concern the call around it.
    ///
    /// - Parameters:
    ///   - needsOriginal: Whether the result must come from the engine itself.
    ///   - lost: Receives how the engine loses items, possibly several times.
    init(ofSecondEngine needsOriginal: Bool, lost: @escaping @Sendable (Loss) -> Void) {
        (outer, self.needsOriginal, outerKey, self.lost, expiring) = (nil, needsOriginal, { $0 }, lost, nil)
    }

    /// Performs a call whose result must come from the engine itself.
    package static func original<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await InnerCall(needsOriginal: true)(body)
    }

    /// Performs the call.
    package func callAsFunction<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await Self.$current.withValue(self, operation: body)
    }

    /// The keys of the items that the engine may have removed on its own.
    package var evictedKeys: Set<CacheKey> { state.withLock { $0.evictedKeys } }

    /// Whether the result may differ from the items of the engine, now or when its other writers change them.
    var isFromCopy: Bool { state.withLock { $0.isFromCopy } }

    /// Whether one part of the result comes from a copy, and another one does not.
    var isMixed: Bool { state.withLock { $0.isFromCopy && $0.isFromOriginal } }

    /// Whether a caller asks for the times at which items expire.
    var followsExpiry: Bool { expiring != nil || outer?.followsExpiry == true }

    /// Reports that items of the engine are about to be removed.
    func evict(_ keys: some Collection<CacheKey>) {
        if keys.isEmpty { return }
        state.withLock { $0.evictedKeys.formUnion(keys) }
        lost(.eviction)
        outer?.evict(keys.compactMap(outerKey))
    }

    /// Reports that the engine can lose items.
    func canLoseItems(by loss: Loss) {
        lost(loss)
        outer?.canLoseItems(by: loss)
    }

    /// Reports the time at which an item expires.
    func expires(_ item: ItemExpiry) {
        expiring?(item)
        guard let outer, let key = outerKey(item.key) else { return }
        outer.expires(ItemExpiry(key: key, time: item.time, now: item.now))
    }

    /// Reports that the result comes from an engine that has a copy, but not from that.
    func answerFromOriginal() {
        state.withLock { $0.isFromOriginal = true }
        outer?.answerFromOriginal()
    }

    /// Reports that the result comes from a copy.
    func answerFromCopy() {
        state.withLock { $0.isFromCopy = true }
        outer?.answerFromCopy()
    }
}

/// The time at which an item expires.
package struct ItemExpiry: Sendable {
    /// The item's key.
    package let key: CacheKey
    /// The time in milliseconds since 1970; `Int64.max` if the item never expires.
    package let time: Int64
    /// Returns the time of the engine.
    package let now: @Sendable () -> Int64
}
