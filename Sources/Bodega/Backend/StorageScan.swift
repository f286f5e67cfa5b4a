/// Receives the number of a scan and an item, on any thread, one at a time. If it returns `false`, the scan ends, and
/// the next one begins. If it throws, the read ends.
public typealias StorageReceiver = @Sendable (Int, StorageItem) throws -> Bool

/// Items to read in a certain order.
public enum StorageScan: Sendable, Hashable {
    /// All items in insertion order, after a position.
    case all(after: Int?)

    /// The items with sort keys in a range, in the order of the keys, and items with equal keys in insertion order.
    ///
    /// A range that ends with ``StorageSortKeyBound/end`` includes the items without a value, and such a range contains
    /// no others. In descending order, only the order of different keys is reversed. The position is that of the last
    /// item that was read, or `nil`.
    ///
    /// In a compound index, all items have certain sort keys of the first members, `equal`, at most of all members but
    /// the last; the range, the order and the sort keys of the items are those of the member after these. If that is
    /// not the last one, items with equal keys can come in any order, and there is no place after which to begin. The
    /// items have the sort keys of all members, too, see ``StorageItem/sortKeys``.
    case range(
        StorageIndex, equal: [StorageSortKey], from: StorageSortKeyBound, to: StorageSortKeyBound, isDescending: Bool,
        after: StoragePlace?)

    /// The items about whose sort keys the engine knows nothing, in insertion order. In SQLite these are items that are
    /// not JSON, and some with unusual spellings. JSON without escapes, whose member is an integer, is never among
    /// them.
    case irregular(StorageIndex)

    /// The items in a range whose sort keys the engine knows only approximately, in any order. In SQLite these are some
    /// numbers that are not integers; their last bit can be wrong. In a compound index, they have certain sort keys of
    /// the first members, as in a range.
    case approximate(StorageIndex, equal: [StorageSortKey], from: StorageSortKeyBound, to: StorageSortKeyBound)

    /// The items whose stored texts match a search, by an index for searches.
    case search(StorageSearch)
}

extension StorageScan {
    /// The items with sort keys in a range of an index over one member.
    public static func range(
        _ index: StorageIndex, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, isDescending: Bool,
        after place: StoragePlace?
    ) -> StorageScan {
        .range(index, equal: [], from: lower, to: upper, isDescending: isDescending, after: place)
    }

    /// The items in a range of an index over one member whose sort keys the engine knows only approximately.
    public static func approximate(
        _ index: StorageIndex, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound
    ) -> StorageScan {
        .approximate(index, equal: [], from: lower, to: upper)
    }
}

extension StorageScan {
    /// The rest of the scan after an item; `nil` for a scan that has no order.
    package func continued(after place: StoragePlace) -> StorageScan? {
        switch self {
        case .all: .all(after: place.position)
        case .range(let index, let equal, let lower, let upper, let isDescending, _):
            .range(index, equal: equal, from: lower, to: upper, isDescending: isDescending, after: place)
        case .search(let search): .search(search.continued(after: place))
        case .irregular, .approximate: nil
        }
    }
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
