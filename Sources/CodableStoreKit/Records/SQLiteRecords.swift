import Bodega
import Foundation

/// Records in a collection of an SQLite file, which can be replaced while it is in use.
///
/// 1. An operation uses the current collection.
/// 2. If it throws, `replacement` is asked for another collection. If there is one, it becomes the current one.
/// 3. The follower moves to the new collection, and the operation runs again.
///
/// `current` and `follower` have a lock each, and neither is held while the collection is used or `replacement` runs.
/// If two threads find a replacement simultaneously, the first one is used by both.
final class SQLiteRecords: RecordCollection {

    /// Returns the collection to use after an operation failed on another, or `nil` if the other was not the cause.
    typealias Replacement = @Sendable (SQLiteCollection, StorageError) throws -> SQLiteCollection?

    private let current: Locked<SQLiteCollection>
    private let replacement: Replacement
    private let follower = Locked<SQLiteFollower?>(nil)

    init(_ collection: SQLiteCollection, replacement: @escaping Replacement = { _, _ in nil }) {
        current = Locked(collection)
        self.replacement = replacement
    }

    /// Returns the key that a Boutique store uses for the same identifier.
    func key(_ text: String) -> CacheKey { CacheKey(text) }

    func data(of key: CacheKey) throws -> Data? { try using { try $0.data(of: key) } }

    func contains(_ key: CacheKey) throws -> Bool { try using { try $0.contains(key) } }

    func items() throws -> [(key: CacheKey, data: Data)] { try using { try $0.allItems() } }

    func values() throws -> [Data] { try using { try $0.allValues() } }

    func file(of key: CacheKey) -> URL? { current.withLock { $0.url } }

    func update(
        _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws {
        try using { collection in
            let operations = Locked<[StorageOperation]>([])
            try collection.update(at: Date()) { contents in
                let planned = try body(contents)
                operations.withLock { $0 = planned }
                return planned
            } committed: { [follower] in
                if let follower = follower.withLock({ $0 }) { follower.note(operations.withLock { $0 }) }
                committed()
            }
        }
    }

    func follow(_ receive: @escaping @Sendable ([SQLiteEffect]) -> Void) -> (@Sendable () -> Void)? {
        let replace: SQLiteFollower.Replace = { [weak self] collection, error in
            // A removed file is not created again just to observe it.
            guard FileManager.default.fileExists(atPath: collection.url.path) else { throw error }
            return try self?.replace(collection, after: error) != nil
        }
        let new = SQLiteFollower(current.withLock { $0 }, replace: replace, receive)
        follower.withLock { $0 = new }
        new.begin()
        return { [follower] in
            new.end()
            // Another follower may have taken its place. The follower is released after the lock.
            _ = follower.withLock { $0 === new ? $0.take() : nil }
        }
    }

    /// Runs a closure with the collection, and again if it was replaced, as the first attempt changed nothing.
    private func using<Value>(_ body: (SQLiteCollection) throws -> Value) throws -> Value {
        let collection = current.withLock { $0 }
        do {
            return try body(collection)
        } catch let error as StorageError {
            guard let other = try replace(collection, after: error) else { throw error }
            return try body(other)
        }
    }

    /// Replaces a collection that has failed.
    ///
    /// - Returns: The collection to use instead, or `nil` if the collection was not the cause.
    private func replace(_ collection: SQLiteCollection, after error: StorageError) throws -> SQLiteCollection? {
        guard let found = try replacement(collection, error) else { return nil }
        let other = current.withLock { current in
            // Another thread may have replaced it already.
            if current === collection { current = found }
            return current
        }
        follower.withLock { $0 }?.move(from: collection, to: other)
        return other
    }
}
