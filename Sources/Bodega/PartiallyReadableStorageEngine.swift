/// An engine in which some items can be unreadable while others are not, for example because they can't be decrypted.
///
/// A read of several items throws if one of them is unreadable, so that no caller takes it for absent. A caller that
/// can handle unreadable items, such as a store, then repeats the read with ``omittingUnreadable(_:)``:
///
/// ```swift
/// let readable = engine.omittingUnreadable { error in print(error) }
/// let items = try await readable.fetchAll()
/// ```
///
/// Each ``TransformingStorageEngine`` and each ``ForwardingStorageEngine`` conforms without code of its own.
public protocol PartiallyReadableStorageEngine: StorageEngine {

    /// Returns an engine with the same items, whose methods that return items omit those that can't be read.
    ///
    /// Use it only for these methods: `fetch(key:)`, `fetch(keys:)`, `fetchAll()`, `fetchAllData()`, and
    /// `fetchItems(keys:)`, `fetchSnapshot()` and `fetchChangedItems(since:excluding:)` if this engine has them. They
    /// still throw if nothing can be read, for example because the base is locked.
    ///
    /// - Parameter report: Receives an error with its ``StorageError/key`` for each omitted item, before the method
    ///   returns. If the engine repeats a read, it may receive errors for the same item again.
    /// - Returns: The engine, with the capabilities of this one.
    func omittingUnreadable(_ report: @escaping @Sendable (StorageError) -> Void) -> any StorageEngine
}

/// The result of a read that reports unreadable items instead of failing. The one place that checks for the conformance
/// to ``PartiallyReadableStorageEngine``.
package struct PartialRead<Value> {
    /// What was read.
    package let value: Value
    /// An error with its key for each item that can't be read.
    package let unreadable: [StorageError]

    /// Performs a read. If it fails because of a single item, repeats it without those that can't be read.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - read: Reads from the engine, and is called at most twice.
    /// - Throws: The engine's error, if not only single items can't be read.
    package init(
        from engine: any StorageEngine, isolation: isolated (any Actor)? = #isolation,
        _ read: (any StorageEngine) async throws -> Value
    ) async throws {
        try await self.init(from: engine, read) { $0 }
    }

    /// Performs a read of an engine with another capability.
    ///
    /// - Parameter cast: Returns an engine with the capability, `nil` if it lacks it.
    init<Engine: Sendable>(
        from engine: Engine, isolation: isolated (any Actor)? = #isolation, _ read: (Engine) async throws -> Value,
        cast: (any StorageEngine) -> Engine?
    ) async throws {
        do {
            (value, unreadable) = (try await read(engine), [])
        } catch let error as StorageError where error.key != nil {
            let errors = Locked<[StorageError]>([])
            let readable = (engine as? any PartiallyReadableStorageEngine)?.omittingUnreadable { error in
                errors.withLock { $0.append(error) }
            }
            guard let readable = readable.flatMap(cast) else { throw error }
            value = try await read(readable)
            var keys: Set<CacheKey> = []
            unreadable = errors.withLock { $0 }.filter { $0.key.map { keys.insert($0).inserted } ?? false }
        }
    }
}
