public import Foundation

/// An engine that returns its items in the order of an index, so that a query need not read all of them.
///
/// Queries work with any engine: ``ObjectStorage/fetch(_:limit:after:omittingUndecodable:)`` reads all items of an
/// engine without this protocol, some at a time. ``SQLiteStorageEngine`` and the engine of the module BodegaPostgres
/// have indexes. An engine without indexes can conform to return its items in parts, as ``MemoryStorageEngine`` does.
public protocol QueryableStorageEngine: StorageEngine {

    /// Passes on items in order, all from one moment.
    ///
    /// - Parameters:
    ///   - scans: What to read, one after the other.
    ///   - begin: Returns the receiver of the items. It is called before the first item, and again if the engine has to
    ///     begin again with the first item, after other programs have disturbed the read. The last receiver counts.
    /// - Throws: A ``StorageError`` if the items could not be read, or the error of the receiver. `CancellationError`
    ///   if the task was cancelled: an engine looks at that at least every few hundred items.
    func scan(_ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver) async throws

    /// Reads several items with their places, for a query that is ordered by an index, or by insertion.
    ///
    /// - Parameters:
    ///   - keys: The keys of the items.
    ///   - index: The index, `nil` for insertion order.
    /// - Returns: The items that exist, in any order.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchEntries(keys: [CacheKey], index: StorageIndex?) async throws -> [StorageEntry]

    /// Counts items without reading them.
    ///
    /// - Parameters:
    ///   - scan: The items to count.
    ///   - limit: The number at which counting may stop.
    /// - Throws: A ``StorageError`` if they could not be counted.
    func count(_ scan: StorageScan, upTo limit: Int) async throws -> Int

    /// Counts items without reading them, and passes on others, all from one moment.
    ///
    /// - Parameters:
    ///   - scans: The items to count.
    ///   - others: What to read, one after the other.
    ///   - begin: Returns the receiver of the other items, see ``scan(_:_:)``.
    /// - Returns: The number of the items to count.
    /// - Throws: A ``StorageError`` if the items could not be counted or read, or the error of the receiver.
    func count(
        _ scans: [StorageScan], reading others: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> Int

    /// Returns the indexes that can be used.
    ///
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchIndexes() async throws -> Set<StorageIndex>

    /// Creates an index over all items, unless it exists.
    ///
    /// - Throws: A ``StorageError`` if it could not be created. ``StorageError/Code/invalidArgument`` if the engine
    ///   can't have an index over this path.
    func createIndex(_ index: StorageIndex) async throws

    /// Removes an index. Removing an absent one is not an error.
    ///
    /// - Throws: A ``StorageError`` if it could not be removed.
    func removeIndex(_ index: StorageIndex) async throws
}

// The members of an engine without indexes.
extension QueryableStorageEngine {

    public func count(_ scan: StorageScan, upTo limit: Int) async throws -> Int {
        let count = Locked(0)
        try await self.scan([scan]) {
            count.withLock { $0 = 0 }
            return { _, _ in
                count.withLock { count in
                    count += 1
                    return count < limit
                }
            }
        }
        return count.withLock { $0 }
    }

    public func count(
        _ scans: [StorageScan], reading others: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> Int {
        let count = Locked(0)
        try await scan(scans + others) {
            count.withLock { $0 = 0 }
            let receive = try begin()
            return { number, entry in
                if number >= scans.count { return try receive(number - scans.count, entry) }
                count.withLock { $0 += 1 }
                return true
            }
        }
        return count.withLock { $0 }
    }

    public func fetchIndexes() async throws -> Set<StorageIndex> { [] }

    public func createIndex(_ index: StorageIndex) async throws {
        throw StorageError(.invalidArgument, "The engine has no indexes. Its queries read all items.")
    }

    public func removeIndex(_ index: StorageIndex) async throws {}
}

/// Receives the number of a scan and an item, on any thread, one at a time. If it returns `false`, the scan ends, and
/// the next one begins. If it throws, the read ends.
public typealias StorageReceiver = @Sendable (Int, StorageEntry) throws -> Bool

/// Items to read in a certain order.
public enum StorageScan: Sendable, Hashable {
    /// All items in insertion order, after a position.
    case all(after: Int?)

    /// The items with sort keys in a range, in the order of the keys, and items with equal keys in insertion order.
    ///
    /// A range that ends with ``StorageSortKeyBound/end`` includes the items without a value, and such a range contains
    /// no others. In descending order, only the order of different keys is reversed. The position is that of the last
    /// item that was read, or `nil`.
    case range(
        StorageIndex, from: StorageSortKeyBound, to: StorageSortKeyBound, isDescending: Bool, after: StoragePlace?)

    /// The items about whose sort keys the engine knows nothing, in insertion order. In SQLite these are items that are
    /// not JSON, and some with unusual spellings. JSON without escapes, whose member is an integer, is never among
    /// them.
    case irregular(StorageIndex)

    /// The items in a range whose sort keys the engine knows only approximately, in any order. In SQLite these are some
    /// numbers that are not integers; their last bit can be wrong.
    case approximate(StorageIndex, from: StorageSortKeyBound, to: StorageSortKeyBound)
}

/// The place of an item in the order of an index, or in insertion order.
public struct StoragePlace: Sendable, Hashable {
    /// The sort key in the index; `nil` if the order is that of insertion, or the engine does not know the key.
    public var sortKey: StorageSortKey?
    /// The place in insertion order: a number that is greater than those of all items that exist when the item is
    /// inserted, and stays when the item is overwritten. A later item can have the number of the last one after that
    /// was removed, as in SQLite.
    public var position: Int

    /// Creates a place.
    ///
    /// - Parameters:
    ///   - sortKey: The sort key in the index.
    ///   - position: The place in insertion order.
    public init(sortKey: StorageSortKey? = nil, position: Int) {
        self.sortKey = sortKey
        self.position = position
    }
}

/// An item with its place.
public struct StorageEntry: Sendable {
    /// The item's key.
    public var key: CacheKey
    /// The item.
    public var data: Data
    /// The item's place.
    public var place: StoragePlace

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - data: The item.
    ///   - place: The item's place.
    public init(key: CacheKey, data: Data, place: StoragePlace) {
        self.key = key
        self.data = data
        self.place = place
    }
}
