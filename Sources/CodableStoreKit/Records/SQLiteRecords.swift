import Bodega
import Foundation

/// Records in a collection of an SQLite file.
final class SQLiteRecords: RecordCollection {

    /// Finds the collection to use instead of one that an operation has failed on; `nil` if that was not to blame.
    typealias Replacement = @Sendable (SQLiteCollection, StorageError) throws -> SQLiteCollection?

    private let current: Locked<SQLiteCollection>
    private let replacement: Replacement
    private let follower = Locked<SQLiteFollower?>(nil)

    init(_ collection: SQLiteCollection, replacement: @escaping Replacement = { _, _ in nil }) {
        current = Locked(collection)
        self.replacement = replacement
    }

    /// The keys of a Boutique store whose items have these identifiers.
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

    func follow(_ tell: @escaping @Sendable ([SQLiteEffect]) -> Void) -> (@Sendable () -> Void)? {
        let replace: SQLiteFollower.Replace = { [weak self] collection, error in
            // A file that somebody has removed is not made anew for those who only observe.
            guard FileManager.default.fileExists(atPath: collection.url.path) else { throw error }
            return try self?.replace(collection, after: error) != nil
        }
        let new = SQLiteFollower(current.withLock { $0 }, replace: replace, tell)
        follower.withLock { $0 = new }
        new.begin()
        return { [follower] in
            new.end()
            // Another may have taken its place. It is released after the lock.
            _ = follower.withLock { $0 === new ? $0.take() : nil }
        }
    }

    /// Uses the collection, once more if it had to be replaced: nothing was changed then.
    private func using<Value>(_ body: (SQLiteCollection) throws -> Value) throws -> Value {
        let collection = current.withLock { $0 }
        do {
            return try body(collection)
        } catch let error as StorageError {
            guard let other = try replace(collection, after: error) else { throw error }
            return try body(other)
        }
    }

    /// Uses another collection from now on instead of one that has failed.
    ///
    /// - Returns: The other, `nil` if the collection was not to blame.
    private func replace(_ collection: SQLiteCollection, after error: StorageError) throws -> SQLiteCollection? {
        guard let found = try replacement(collection, error) else { return nil }
        let other = current.withLock { current in
            // Somebody else may have found it to have failed at the same time.
            if current === collection { current = found }
            return current
        }
        follower.withLock { $0 }?.move(from: collection, to: other)
        return other
    }
}
