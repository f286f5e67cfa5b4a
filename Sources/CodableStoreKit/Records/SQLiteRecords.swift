import Bodega
import Foundation

/// Records in a collection of an SQLite file, which can be missing, and replaced while it is in use.
///
/// 1. An operation uses the current collection. If there is none, `open` is asked for it. Reading creates no file;
///    without one, there are no records.
/// 2. If the operation throws, `replacement` is asked for another collection. If there is one, it becomes the current
///    one.
/// 3. The follower moves to the new collection, and the operation runs again.
///
/// The closure of a transaction never runs again. Inside of it, nothing is replaced but what belongs to another file.
///
/// `current` and `follower` have a lock each, and neither is held while the collection is used, or `open` or
/// `replacement` runs. If two threads find a replacement simultaneously, the first one is used by both.
final class SQLiteRecords: RecordCollection {

    /// What to use instead of a collection on which an operation has failed.
    enum Replacement {
        /// The collection was not the cause.
        case same
        /// There is no file, and none is to be created.
        case absent
        case other(SQLiteCollection)
    }

    /// Returns the collection, `nil` if there is no file and none is to be created.
    typealias Open = @Sendable (_ creating: Bool) throws -> SQLiteCollection?

    /// Returns the collection to use after an operation failed on another.
    typealias Replace = @Sendable (SQLiteCollection, StorageError, _ creating: Bool) throws -> Replacement

    private let current = Locked<SQLiteCollection?>(nil)
    private let open: Open
    private let replacement: Replace
    private let follower = Locked<SQLiteFollower?>(nil)

    init(open: @escaping Open, replacement: @escaping Replace = { _, _, _ in .same }) {
        self.open = open
        self.replacement = replacement
    }

    /// Returns the key that a Boutique store uses for the same identifier.
    func key(_ text: String) -> CacheKey { CacheKey(text) }

    func data(of key: CacheKey) throws -> Data? { try reading(orElse: nil) { try $0.data(of: key) } }

    func contains(_ key: CacheKey) throws -> Bool { try reading(orElse: false) { try $0.contains(key) } }

    func items() throws -> [(key: CacheKey, data: Data)] { try reading(orElse: []) { try $0.allItems() } }

    func values() throws -> [Data] { try reading(orElse: []) { try $0.allValues() } }

    func file(of key: CacheKey) -> URL? { current.withLock { $0?.url } }

    func update(
        _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws {
        try using(creating: true) { collection in
            try collection.update(at: Date(), since: place(in: collection)) { contents in
                try body(contents)
            } committed: { [follower] change in
                follower.withLock { $0 }?.note(change, of: collection)
                committed()
            }
        }
    }

    func removeAll(committed: @escaping @Sendable ([(key: CacheKey, data: Data)]) -> Void) throws {
        let isPresent: Void? = try using(creating: false) { collection in
            try collection.remove(since: place(in: collection)) { [follower] change in
                follower.withLock { $0 }?.note(change, of: collection)
                committed(change.removed)
            }
        }
        if isPresent == nil { committed([]) }
    }

    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        var hasBegun = false
        let value = try using(creating: true, mayRepeat: { !hasBegun }) { collection in
            try collection.transaction {
                hasBegun = true
                return try body()
            }
        }
        guard let value else { throw StorageError(.closed, "The storage of the collection is closed.") }
        return value
    }

    /// Returns the place that the follower has reached when it is called.
    private func place(in collection: SQLiteCollection) -> @Sendable () -> SQLiteFollowedState? {
        { [follower] in follower.withLock { $0 }?.place(in: collection) }
    }

    func prepareToFollow() throws {
        _ = try using(creating: true) { try $0.checkPlace() }
    }

    func follow(_ receive: @escaping @Sendable ([RecordEffect]) -> Void) -> (@Sendable () -> Void)? {
        let open: SQLiteFollower.Open = { [weak self] in try self?.collection(creating: true) }
        let replace: SQLiteFollower.Replace = { [weak self] collection, error in
            // A removed file is not created again just to observe it.
            guard try FileSystem.exists(atPath: collection.url.path) else { throw error }
            return try self?.replace(collection, after: error) != nil
        }
        let new = SQLiteFollower(open: open, replace: replace, receive)
        follower.withLock { $0 = new }
        new.begin()
        return { [follower] in
            new.end()
            // Another follower may have taken its place. The follower is released after the lock.
            _ = follower.withLock { $0 === new ? $0.take() : nil }
        }
    }

    func catchUpFirst() { follower.withLock { $0 }?.catchUpFirst() }

    private func reading<Value>(orElse absent: Value, _ body: (SQLiteCollection) throws -> Value) throws -> Value {
        try using(creating: false, body) ?? absent
    }

    /// Runs a closure with the collection, and again if it was replaced, as the first attempt changed nothing.
    ///
    /// - Parameters:
    ///   - creating: Whether to create a missing file.
    ///   - mayRepeat: Whether the closure may run again.
    ///   - body: The closure.
    /// - Returns: `nil` if there is no file, and none is to be created.
    private func using<Value>(
        creating: Bool, mayRepeat: () -> Bool = { true }, _ body: (SQLiteCollection) throws -> Value
    ) throws -> Value? {
        guard var collection = try collection(creating: creating) else { return nil }
        // The file of the transaction may have replaced that of the collection, which can't be used in it.
        if ThreadTransaction.current != nil, !collection.isInTransaction,
            case .other(let found) = try replacement(
                collection, StorageError(.closed, "The file may have been closed."), creating)
        {
            collection = use(found, insteadOf: collection)
        }
        do {
            return try body(collection)
        } catch let error as StorageError where mayRepeat() && !collection.isInTransaction {
            switch try replacement(collection, error, creating) {
            case .same: throw error
            case .absent:
                current.withLock { if $0 === collection { $0 = nil } }
                return nil
            case .other(let found): return try body(use(found, insteadOf: collection))
            }
        }
    }

    private func collection(creating: Bool) throws -> SQLiteCollection? {
        if let collection = current.withLock({ $0 }) { return collection }
        guard let found = try open(creating) else { return nil }
        return use(found, insteadOf: nil)
    }

    /// Replaces a collection that has failed.
    ///
    /// - Returns: The collection to use instead, or `nil` if the collection was not the cause.
    private func replace(_ collection: SQLiteCollection, after error: StorageError) throws -> SQLiteCollection? {
        guard case .other(let found) = try replacement(collection, error, true) else { return nil }
        return use(found, insteadOf: collection)
    }

    private func use(_ found: SQLiteCollection, insteadOf old: SQLiteCollection?) -> SQLiteCollection {
        let other = current.withLock { current in
            // Another thread may have replaced it already.
            if let current, current !== old { return current }
            current = found
            return found
        }
        follower.withLock { $0 }?.move(to: other)
        return other
    }
}
