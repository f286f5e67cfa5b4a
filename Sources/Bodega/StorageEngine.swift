public import Foundation

/// A place that keeps bytes under keys: a database, a folder, memory, a server.
///
/// Everything above bytes, from ``ObjectStorage`` upwards, works with any engine. Bodega provides
/// ``SQLiteStorageEngine``, ``DiskStorageEngine`` and ``MemoryStorageEngine``. To write your own, implement the members
/// without a default. Actors can conform, and so can thread-safe classes and structs.
///
/// ## Reads come in two forms
/// The `read…` forms cannot report a failure: to them, an unreadable item looks like an absent one. The throwing
/// `fetch…` forms distinguish the two. Code that must not mistake a locked or damaged database for an empty one uses
/// `fetch…`. An engine whose reads can fail conforms to ``ThrowingStorageEngine``, implements the `fetch…` forms and
/// gets the `read…` forms from them.
///
/// ## Order
/// An engine returns keys and items in the order in which they were first written. Overwriting an item keeps its
/// place; removing and writing it again puts it at the end. Forms that take keys follow the order of those keys.
public protocol StorageEngine: Sendable {

    // MARK: Writing

    /// Writes an item, replacing the one under the same key.
    ///
    /// - Parameters:
    ///   - data: The bytes to keep. Empty data is an item like any other.
    ///   - key: The key to keep them under.
    /// - Throws: A ``StorageError`` if the item could not be written; the previous item is then unchanged.
    func write(_ data: Data, key: CacheKey) async throws

    /// Writes several items with one call, in order; of two items with the same key the later one wins.
    ///
    /// - Parameter dataAndKeys: The items and their keys.
    /// - Throws: A ``StorageError`` if they could not be written. If the engine's batches are atomic, none was.
    func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws

    // MARK: Reading

    /// Reads an item.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: The item, or `nil` if there is none or it could not be read.
    func read(key: CacheKey) async -> Data?

    /// Reads several items.
    ///
    /// - Parameter keys: The keys of the items.
    /// - Returns: The items that exist, in the order of `keys`; empty if they could not be read.
    func read(keys: [CacheKey]) async -> [Data]

    /// Reads several items together with their keys.
    ///
    /// - Parameter keys: The keys of the items.
    /// - Returns: The items that exist, in the order of `keys`; empty if they could not be read.
    func readDataAndKeys(keys: [CacheKey]) async -> [(key: CacheKey, data: Data)]

    /// Reads all items.
    ///
    /// - Returns: The items in insertion order; empty if they could not be read.
    func readAllData() async -> [Data]

    /// Reads all items together with their keys.
    ///
    /// - Returns: The items in insertion order; empty if they could not be read.
    func readAllDataAndKeys() async -> [(key: CacheKey, data: Data)]

    // MARK: Removing

    /// Removes an item. Removing an absent item is not an error.
    ///
    /// - Parameter key: The item's key.
    /// - Throws: A ``StorageError`` if the item could not be removed.
    func remove(key: CacheKey) async throws

    /// Removes several items with one call. Absent ones are skipped.
    ///
    /// - Parameter keys: The keys of the items.
    /// - Throws: A ``StorageError`` if they could not be removed.
    func remove(keys: [CacheKey]) async throws

    /// Removes all items.
    ///
    /// - Throws: A ``StorageError`` if they could not be removed.
    func removeAllData() async throws

    // MARK: Keys and dates

    /// Returns whether an item exists.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `true` if it exists; `false` if it does not or the check failed.
    func keyExists(_ key: CacheKey) async -> Bool

    /// Returns the keys whose items exist.
    ///
    /// - Parameter keys: The keys to look for.
    /// - Returns: The keys whose items exist, in the order of `keys`; empty if the check failed.
    func keysExist(_ keys: [CacheKey]) async -> [CacheKey]

    /// Counts the items.
    ///
    /// - Returns: The number of items; 0 if they could not be counted.
    func keyCount() async -> Int

    /// Lists the keys of all items.
    ///
    /// - Returns: The keys in insertion order; empty if they could not be read.
    func allKeys() async -> [CacheKey]

    /// Returns when an item was first written. Overwriting the item does not change this date.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: The date, or `nil` if there is no such item or it could not be read.
    func createdAt(key: CacheKey) async -> Date?

    /// Returns when an item was last written.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: The date, or `nil` if there is no such item or it could not be read.
    func updatedAt(key: CacheKey) async -> Date?

    // MARK: Reads that report failure

    /// Reads an item.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: The item, or `nil` if there is none.
    /// - Throws: A ``StorageError`` if it could not be read.
    func fetch(key: CacheKey) async throws -> Data?

    /// Reads several items together with their keys.
    ///
    /// - Parameter keys: The keys of the items. If a key occurs twice, so does its item.
    /// - Returns: The items that exist, in the order of `keys`.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)]

    /// Reads all items together with their keys, in insertion order.
    ///
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchAll() async throws -> [(key: CacheKey, data: Data)]

    /// Reads all items, without their keys, in insertion order.
    ///
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchAllData() async throws -> [Data]

    /// Lists the keys of all items, in insertion order.
    ///
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchKeys() async throws -> [CacheKey]

    /// Returns those of the given keys whose items exist.
    ///
    /// - Parameter candidates: The keys to look for.
    /// - Returns: The keys whose items exist, in the order of `candidates`.
    /// - Throws: A ``StorageError`` if the check failed.
    func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey]

    /// Counts the items.
    ///
    /// - Throws: A ``StorageError`` if they could not be counted.
    func fetchCount() async throws -> Int

    /// Returns when an item was first and last written.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: The dates, or `nil` if there is no such item.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchDates(key: CacheKey) async throws -> StorageDates?

    // MARK: Large items

    /// Reads an item in parts, so that it need not fit into memory.
    ///
    /// The stream contains the item of one moment, even if it is changed later, and holds no lock while it is read.
    ///
    /// ``SQLiteStorageEngine``, ``DiskStorageEngine`` and the engine for PostgreSQL need memory for some parts only.
    /// SQLite and PostgreSQL copy a large item into a temporary file first, in the folder of the variable `TMPDIR`, by
    /// default `/var/tmp`. The default for engines that don't implement this method reads the whole item into memory.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: The bytes, or `nil` if there is no such item.
    /// - Throws: A ``StorageError`` if the item could not be read. Reading the stream can throw, too.
    func fetchStream(key: CacheKey) async throws -> StorageByteStream?

    /// Writes an item in parts, replacing the one under the same key, as soon as the stream has ended.
    ///
    /// The item is like any other, and the write is as atomic and durable. ``SQLiteStorageEngine``,
    /// ``DiskStorageEngine`` and the engine for PostgreSQL need memory for some parts only, and space for the stream in
    /// a temporary file unless it is that of a file. The default for engines that don't implement this method reads the
    /// whole stream into memory first.
    ///
    /// - Parameters:
    ///   - stream: The bytes.
    ///   - key: The key to keep them under.
    /// - Throws: A ``StorageError`` if the item could not be written, or the error of the stream; the previous item is
    ///   then unchanged.
    func write(stream: StorageByteStream, key: CacheKey) async throws

    // MARK: Atomic batches

    /// Applies writes and removals in order, all or nothing if the engine can.
    ///
    /// ``SQLiteStorageEngine``, ``DiskStorageEngine`` and ``MemoryStorageEngine`` apply all of them or none. The
    /// default for engines that don't implement this method calls ``write(_:)``, ``remove(keys:)`` and
    /// ``removeAllData()`` one after the other, so a failure leaves the operations before it applied.
    ///
    /// - Parameter operations: The operations. An empty list does nothing.
    /// - Throws: A ``StorageError`` if they could not be applied.
    func apply(_ operations: [StorageOperation]) async throws
}
