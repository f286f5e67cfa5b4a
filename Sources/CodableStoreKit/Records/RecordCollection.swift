import Bodega
import Foundation

/// The records of one collection, stored by one of Bodega's synchronous cores.
protocol RecordCollection: AnyObject, Sendable {

    /// Returns the key for the text of an identifier.
    func key(_ text: String) -> CacheKey

    /// Returns the record under a key, or `nil` if there is none.
    func data(of key: CacheKey) throws -> Data?

    /// Returns whether there is a record under a key.
    func contains(_ key: CacheKey) throws -> Bool

    /// Returns all records in insertion order.
    func items() throws -> [(key: CacheKey, data: Data)]

    /// Returns the same without the keys.
    func values() throws -> [Data]

    /// Whether other programs can add records under keys that are not their objects' own.
    var canHoldStrays: Bool { get }

    /// Returns the records that other programs may have added.
    func strays() throws -> [(key: CacheKey, data: Data)]

    /// Returns the file that contains the record under a key, for use in errors.
    func file(of key: CacheKey) throws -> URL?

    /// Reads and changes records atomically.
    ///
    /// - Parameters:
    ///   - body: Reads the records and returns the operations to apply. It may run more than once.
    ///   - committed: Called once after the commit, in the order of the commits, while a lock is held. It must return
    ///     quickly and use no store.
    func update(
        _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws

    /// Removes all records, and what contains them.
    ///
    /// - Parameter committed: Called once with the removed records, like that of ``update(_:committed:)``.
    func removeAll(committed: @escaping @Sendable ([(key: CacheKey, data: Data)]) -> Void) throws

    /// Runs a closure in a transaction of the collection's location, in which the operations of the thread on all of
    /// its collections take part. A transaction within another one is a part of that.
    ///
    /// The calls of `committed` are postponed until the commit, and omitted without one.
    ///
    /// - Parameter body: The closure. It runs once, on the calling thread.
    /// - Throws: The closure's error, or a `StorageError`. In both cases, nothing is changed.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value

    /// Opens or creates the file that is needed to follow foreign changes, but no collection.
    func prepareToFollow() throws

    /// Follows foreign changes, if the records can report them. Those are reported that are made after the next call of
    /// ``catchUpFirst()``.
    ///
    /// - Parameter receive: Called with foreign changes, in one order with the calls of `committed`. It must return
    ///   quickly and use no store.
    /// - Returns: A closure that ends the following, or `nil` if foreign changes cannot be followed.
    func follow(_ receive: @escaping @Sendable ([RecordEffect]) -> Void) -> (@Sendable () -> Void)?

    /// Reads what the follower must know to report all later changes, unless that has been done; in a transaction, when
    /// that ends. This may wait for a transaction of another thread.
    func catchUpFirst()
}

/// The records during an update.
protocol RecordContents {
    /// Returns the record under a key, or `nil` if there is none.
    func data(of key: CacheKey) throws -> Data?

    /// Returns all records in insertion order.
    func allItems() throws -> [(key: CacheKey, data: Data)]
}

extension DiskContents: RecordContents {}
extension SQLiteContents: RecordContents {}

extension RecordCollection {
    func values() throws -> [Data] { try items().map(\.data) }

    var canHoldStrays: Bool { false }

    func strays() throws -> [(key: CacheKey, data: Data)] { [] }

    func prepareToFollow() throws {}

    func follow(_ receive: @escaping @Sendable ([RecordEffect]) -> Void) -> (@Sendable () -> Void)? { nil }

    func catchUpFirst() {}
}
