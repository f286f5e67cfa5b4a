public import Foundation

/// An item as an engine keeps it: its key, and what a request asks for.
public struct StorageItem: Sendable, Hashable {
    /// The item's key.
    public var key: CacheKey

    /// The item's bytes, empty if they were not asked for.
    public var data: Data

    /// The place in insertion order: a number that is greater than those of all items that exist when the item is
    /// inserted, and stays when the item is overwritten. A later item can have the number of the last one after that
    /// was removed, as in SQLite. 0 if it was not asked for.
    public var position: Int

    /// The sort key in an index; `nil` if none was asked for, or the engine does not know the key.
    public var sortKey: StorageSortKey?

    /// The sort keys of all members of a compound index, in their order; empty if there is no such index, or the engine
    /// does not know one of them.
    public var sortKeys: [StorageSortKey]

    /// When the item was first and last written; `nil` if that was not asked for.
    public var dates: StorageDates?

    /// When the item expires; `nil` if it does not, or if that was not asked for.
    public var expiry: Date?

    /// Creates an item.
    public init(
        key: CacheKey, data: Data = Data(), position: Int = 0, sortKey: StorageSortKey? = nil,
        sortKeys: [StorageSortKey] = [], dates: StorageDates? = nil, expiry: Date? = nil
    ) {
        (self.key, self.data, self.position) = (key, data, position)
        (self.sortKey, self.sortKeys) = (sortKey, sortKeys)
        (self.dates, self.expiry) = (dates, expiry)
    }

    /// The place in the order of an index, or in insertion order.
    public var place: StoragePlace { StoragePlace(sortKey: sortKey, position: position) }
}
