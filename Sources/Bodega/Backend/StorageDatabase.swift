/// Collections that one batch can change together, such as those of one SQLite file.
///
/// An engine on one of the collections returns it as its ``StorageBackend/database``. Two engines are in the same
/// database if these are the same object.
public protocol StorageDatabase: AnyObject, Sendable {

    /// Applies batches of several collections, in their order: all of them, or none if a condition of any of them is
    /// not met or an error is thrown.
    ///
    /// Nobody sees a part of them: a read of several collections from one moment finds all or nothing.
    ///
    /// - Parameter parts: The batches, at least one. Several can be of the same collection, but not of the same item.
    /// - Returns: The outcome of each batch.
    /// - Throws: A ``StorageError``.
    func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome]
}

/// A batch for one of the collections of a ``StorageDatabase``.
public struct StoragePart: @unchecked Sendable {
    // @unchecked because the collection's name is sendable: `AnyHashable` hides that.
    /// The engine on the collection, one whose ``StorageBackend/database`` is its own.
    public var engine: any StorageBackend
    /// What distinguishes the collection from the others of the database.
    public var collection: AnyHashable
    /// The batch, without its ``StorageBatch/group``.
    public var batch: StorageBatch

    /// The keys of the items that the batch reads or changes, `nil` if it changes all.
    var keys: Set<CacheKey>? {
        var keys = Set((batch.conditions ?? []).map(\.key))
        for operation in batch.operations {
            switch operation {
            case .write(let key, _), .remove(let key): keys.insert(key)
            case .removeAll: return nil
            }
        }
        return keys
    }
}
