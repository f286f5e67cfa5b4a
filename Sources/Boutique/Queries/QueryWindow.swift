import Bodega

/// The first rows of a query, and how changes affect them.
///
/// The window has some rows more than it shows, so that a removal need not read.
struct QueryWindow<Item: StorableItem>: Sendable {
    /// The rows, in order.
    private(set) var rows: RowList<Item>
    /// Whether there may be matches after the last row.
    private(set) var hasRowsBeyond = true
    /// The maximum number of rows that are shown.
    private(set) var limit: Int
    private let isAscending: RowList<Item>.Order

    init(limit: Int, isAscending: @escaping RowList<Item>.Order) {
        self.limit = limit
        self.isAscending = isAscending
        rows = RowList(isAscending: isAscending)
    }

    /// The rows that are shown.
    var shown: [QueryRow<Item>] { rows.prefix(limit) }

    /// The number of rows that are shown.
    var shownCount: Int { min(rows.count, limit) }

    /// The index of the row with a key, if it is shown.
    func shownIndex(of key: CacheKey) -> Int? { rows.index(of: key).flatMap { $0 < limit ? $0 : nil } }

    /// Whether there are matches that are not shown.
    var hasMore: Bool { rows.count > limit || hasRowsBeyond }

    /// The number of rows that the window can have.
    var capacity: Int { limit + Self.reserve(of: limit) }

    /// The number of rows to read; 0 if the window has enough. Without a row behind the limit, it is unknown whether
    /// there are more.
    var missing: Int { hasRowsBeyond && rows.count <= limit ? capacity - rows.count : 0 }

    private static func reserve(of limit: Int) -> Int { max(16, min(limit, 256)) }

    /// Shows more rows.
    mutating func extend(by count: Int) {
        limit += min(count, maximumWindow - limit)
    }

    /// Replaces all rows.
    mutating func replace(with rows: [QueryRow<Item>], hasMore: Bool) {
        self.rows = RowList(isAscending: isAscending)
        append(rows, hasMore: hasMore)
    }

    /// Appends the rows after the last one.
    mutating func append(_ more: [QueryRow<Item>], hasMore: Bool) {
        // A row whose place changes while the window reads can be in both. The change is yet to come.
        var new: Set<CacheKey> = []
        rows.append(more.filter { !rows.contains($0.key) && new.insert($0.key).inserted })
        hasRowsBeyond = hasMore
    }

    /// Applies changes of the items under some keys, of which the given rows match now.
    mutating func apply(_ keys: Set<CacheKey>, _ changed: [QueryRow<Item>]) {
        // All matches up to the last row are in the window. It is unknown what is behind it.
        let edge = rows.last?.place
        for key in keys { rows.remove(key) }
        for row in changed where !hasRowsBeyond || edge.map({ !isAscending($0, row.place) }) ?? false {
            rows.insert(row)
        }
        if rows.count > capacity {
            rows.removeLast(rows.count - capacity)
            hasRowsBeyond = true
        }
    }
}
