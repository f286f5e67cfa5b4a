public import Foundation

/// The state that an item must have for a conditional batch to be applied, see ``ConditionalStorageEngine``.
public struct StorageCondition: Sendable, Hashable {
    /// The item's key.
    public var key: CacheKey
    /// The item's bytes; `nil` if there must be no item.
    public var data: Data?

    /// Creates a condition.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - data: The item's bytes; `nil` if there must be no item.
    public init(key: CacheKey, data: Data?) {
        self.key = key
        self.data = data
    }
}

/// An engine that can apply a batch only if items are still as its caller has read them: a compare-and-swap.
///
/// With it, a read-modify-write loses no change of another task, process or machine:
///
/// ```swift
/// while true {
///     let old = try await engine.fetch(key: key)
///     let new = increment(old)
///     let condition = StorageCondition(key: key, data: old)
///     if try await engine.apply([.write(key: key, data: new)], if: [condition]) { break }
/// }
/// ```
///
/// ``MemoryStorageEngine``, ``DiskStorageEngine``, ``SQLiteStorageEngine`` and the engine of the module BodegaPostgres
/// conform.
public protocol ConditionalStorageEngine: StorageEngine {

    /// Applies operations like ``StorageEngine/apply(_:)``, all or nothing, if the items are in the expected state.
    ///
    /// Checking the conditions and applying the operations is one atomic step: no other writer changes an item in
    /// between.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - conditions: The expected state of some items, compared byte by byte. Without any, the operations are
    ///     applied.
    /// - Returns: Whether the operations were applied. Otherwise nothing was changed.
    /// - Throws: A ``StorageError`` if the conditions could not be checked or the operations not be applied.
    func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool
}
