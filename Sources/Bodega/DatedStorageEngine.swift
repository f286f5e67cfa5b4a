public import Foundation

/// An item with its key and its dates.
public struct StorageItem: Sendable, Hashable {
    /// The item's key.
    public var key: CacheKey
    /// The item's bytes.
    public var data: Data
    /// When the item was first and last written.
    public var dates: StorageDates

    /// Creates an item.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - data: The item's bytes.
    ///   - dates: When the item was first and last written.
    public init(key: CacheKey, data: Data, dates: StorageDates) {
        self.key = key
        self.data = data
        self.dates = dates
    }
}

/// An engine that reads items with their dates and writes items with given dates, so that a copy of a store keeps them.
///
/// ``SQLiteStorageEngine``, ``DiskStorageEngine`` and ``MemoryStorageEngine`` conform.
public protocol DatedStorageEngine: StorageEngine {

    /// Reads several items together with their dates.
    ///
    /// - Parameter keys: The keys of the items.
    /// - Returns: The items that exist, in the order of `keys`.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchItems(keys: [CacheKey]) async throws -> [StorageItem]

    /// Reads the dates of all items, without the items.
    ///
    /// - Returns: The keys and dates, in insertion order.
    /// - Throws: A ``StorageError`` if they could not be read.
    func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)]

    /// Writes several items with their dates, all or nothing. Of two items with the same key the later one wins.
    ///
    /// An item that exists already gets both dates and keeps its place in the order.
    ///
    /// - Parameter items: The items. Their dates are kept to the millisecond.
    /// - Throws: A ``StorageError`` if they could not be written; in that case none was.
    func write(items: [StorageItem]) async throws
}

// The one place that checks for the conformance, with fallbacks for engines without it.
extension StorageEngine {

    /// Reads several items together with their dates.
    package func itemsWithDates(of keys: [CacheKey]) async throws -> [StorageItem] {
        if let dated = self as? any DatedStorageEngine { return try await dated.fetchItems(keys: keys) }
        var items: [StorageItem] = []
        for (key, data) in try await fetch(keys: keys) {
            // The item was removed after it was read.
            guard let dates = try await fetchDates(key: key) else { continue }
            items.append(StorageItem(key: key, data: data, dates: dates))
        }
        return items
    }

    /// Reads the dates of all items, in insertion order.
    package func datesOfAllItems() async throws -> [(key: CacheKey, dates: StorageDates)] {
        if let dated = self as? any DatedStorageEngine { return try await dated.fetchAllDates() }
        var found: [(key: CacheKey, dates: StorageDates)] = []
        for key in try await fetchKeys() {
            if let dates = try await fetchDates(key: key) { found.append((key, dates)) }
        }
        return found
    }
}
