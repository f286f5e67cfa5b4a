import GRDB

/// Reads the items of scans, one scan after the other.
///
/// Scans for small ranges of one index, such as those for the items that refer to others, share statements: their texts
/// are long, and building one takes longer than reading a few items.
struct SQLiteScanReader {
    private let table: SQLiteTable
    private let sets: [[SQLiteConditions]]
    private let fields: StorageFields
    private let db: Database
    /// The statements of ranges between two keys.
    private var ranges: [RangeStatement] = []

    private struct RangeStatement {
        let shape: Shape
        let columns: SQLiteItemColumns
        let statement: SQLiteStatement
        var conditions: SQLiteConditions
    }

    /// What a statement depends on, other than the keys of its range.
    private struct Shape: Equatable {
        let index: StorageIndex
        let isApproximate: Bool
        let isEqual: Bool
        let includesLower: Bool
        let includesUpper: Bool
    }

    /// - Parameter sets: See ``ScanRequest/within``.
    init(
        _ table: SQLiteTable, within sets: [[StorageScan]] = [], _ fields: StorageFields, in db: Database
    ) throws {
        (self.table, self.fields, self.db) = (table, fields, db)
        self.sets = try sets.map { try $0.map(table.conditions) }
    }

    /// Passes on the items of a scan in order, see ``StorageBackend/scan(_:_:)``.
    mutating func read(_ scan: StorageScan, _ receive: (StorageItem) throws -> Bool) throws {
        switch scan {
        case .all(let position):
            try read(
                SQLiteConditions("rowid > ?", .integer(Int64(position ?? .min))), orderedBy: "rowid", receive)
        case .search(let search): try table.search(search, fields, in: db, receive)
        case .irregular(let index):
            // The order of a compound index is that of the other members' keys.
            let order = index.others.isEmpty ? "rowid" : nil
            try read(SQLiteConditions(ofIrregular: SQLiteIndex(index, of: table)), orderedBy: order, receive)
        case .approximate(let index, let equal, let lower, let upper):
            if equal.isEmpty, try readShared(index, from: lower, to: upper, isApproximate: true, receive) { return }
            let column = try SQLiteColumn(of: index, table, after: equal)
            try read(approximate(column, from: lower, to: upper), selecting: column, orderedBy: nil, receive)
        case .range(let index, let equal, let lower, let upper, let isDescending, let place):
            if equal.isEmpty, !isDescending, place == nil,
                try readShared(index, from: lower, to: upper, isApproximate: false, receive)
            {
                return
            }
            let column = try SQLiteColumn(of: index, table, after: equal)
            try read(column, from: lower, to: upper, isDescending, after: place, receive)
        }
    }

    private func approximate(
        _ column: SQLiteColumn, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound
    ) -> SQLiteConditions {
        var conditions = column.conditions(from: lower, to: upper)
        conditions.add("typeof(\(column.expression)) = 'real'")
        return conditions
    }

    private func read(
        _ column: SQLiteColumn, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, _ isDescending: Bool,
        after place: StoragePlace?, _ receive: (StorageItem) throws -> Bool
    ) throws {
        if !column.isLast {
            guard place == nil else { throw StorageError.hasNoPlaces }
            let conditions = column.conditions(from: lower, to: upper)
            let order = conditions.isEqual ? nil : column.expression + (isDescending ? " DESC" : "")
            return try read(conditions, selecting: column, orderedBy: order, receive)
        }
        var (lower, upper) = (lower, upper)
        if let place {
            let (same, rest) = try column.rest(from: lower, to: upper, isDescending, after: place)
            var isComplete = true
            try read(same, selecting: column, orderedBy: "rowid") { entry in
                isComplete = try receive(entry)
                return isComplete
            }
            guard isComplete, let rest else { return }
            (lower, upper) = rest
        }
        let conditions = column.conditions(from: lower, to: upper)
        if conditions.isEqual {
            // With the expression in the order, too, SQLite would sort all rows, and their values, in a file.
            try read(conditions, selecting: column, orderedBy: "rowid", receive)
        } else if isDescending {
            try readDescending(column, from: lower, to: upper, receive)
        } else {
            let order = "\(column.expression), rowid"
            try read(conditions, selecting: column, orderedBy: order, receive)
        }
    }

    /// Reads a range between two keys of an index over one member, with the statement of another one if there was one.
    ///
    /// - Returns: `false` if it is not such a range.
    private mutating func readShared(
        _ index: StorageIndex, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, isApproximate: Bool,
        _ receive: (StorageItem) throws -> Bool
    ) throws -> Bool {
        guard index.others.isEmpty, let first = lower.key, let last = upper.key else { return false }
        let shape = Shape(
            index: index, isApproximate: isApproximate, isEqual: lower == .before(last) && upper == .after(first),
            includesLower: lower == .before(first), includesUpper: upper == .after(last))
        let place = try ranges.firstIndex { $0.shape == shape } ?? add(shape, from: lower, to: upper)
        ranges[place].conditions.replaceFirst(shape.isEqual ? [first] : [first, last])
        let range = ranges[place]
        try run(range.statement, range.conditions, range.columns, isSorted: true, receive)
        return true
    }

    private mutating func add(
        _ shape: Shape, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound
    ) throws -> Int {
        let column = try SQLiteColumn(of: shape.index, table, after: [])
        var conditions =
            shape.isApproximate
            ? approximate(column, from: lower, to: upper) : column.conditions(from: lower, to: upper)
        add(to: &conditions)
        // With the expression in the order, too, SQLite would sort all rows with one key, and their values, in a file.
        let order = shape.isApproximate ? nil : shape.isEqual ? "rowid" : "\(column.expression), rowid"
        let (statement, columns) = try statement(conditions, selecting: column, orderedBy: order)
        ranges.append(RangeStatement(shape: shape, columns: columns, statement: statement, conditions: conditions))
        return ranges.endIndex - 1
    }

    /// - Parameter column: The member of an index whose sort keys are read.
    private func read(
        _ conditions: SQLiteConditions, selecting column: SQLiteColumn? = nil, orderedBy order: String?,
        _ receive: (StorageItem) throws -> Bool
    ) throws {
        var conditions = conditions
        add(to: &conditions)
        let (statement, columns) = try statement(conditions, selecting: column, orderedBy: order)
        try run(statement, conditions, columns, isSorted: column != nil, receive)
    }

    private func add(to conditions: inout SQLiteConditions) {
        for set in sets { conditions.add(rowsOf: table.name, withOneOf: set) }
    }

    private func statement(
        _ conditions: SQLiteConditions, selecting column: SQLiteColumn?, orderedBy order: String?
    ) throws -> (SQLiteStatement, SQLiteItemColumns) {
        let columns = SQLiteItemColumns(fields.union(.place), sortedBy: column)
        let statement = try SQLiteStatement(
            """
            SELECT key, kind, \(columns.sql) FROM \(table.name)
            WHERE \(conditions.sql)\(order.map { " ORDER BY \($0)" } ?? "")
            """, in: db)
        return (statement, columns)
    }

    /// - Parameter isSorted: Whether items whose key is a text that is not UTF-8 are left out.
    private func run(
        _ statement: SQLiteStatement, _ conditions: SQLiteConditions, _ columns: SQLiteItemColumns, isSorted: Bool,
        _ receive: (StorageItem) throws -> Bool
    ) throws {
        defer { statement.reset() }
        try conditions.bind(to: statement)
        while try statement.step() {
            let item = try SQLiteTable.item(columns, in: statement)
            // Swift can't decode an item whose key is not UTF-8, and nothing could go on after its place.
            if isSorted, item.sortKey == nil { continue }
            if try !receive(item) { return }
        }
    }

    // MARK: Descending order

    /// Reads in descending order of the keys, with equal keys in insertion order, which is no order of the index: it
    /// reads the places of some items in the order of the index, reverses the items with equal keys, and reads the last
    /// of these groups, whose end it has not seen, from its start.
    private func readDescending(
        _ column: SQLiteColumn, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound,
        _ receive: (StorageItem) throws -> Bool
    ) throws {
        var upper = upper
        var count = 64
        while true {
            var places = try places(column, from: lower, to: upper, count: count)
            let isLast = places.count < count
            places.removeAll { $0.sortKey == nil }
            if !isLast, places.isEmpty {
                // All of them are texts that are not UTF-8.
                count *= 2
                continue
            }
            let cut = isLast ? nil : places.last?.sortKey
            if let cut { places.removeAll { $0.sortKey == cut } }
            var end = places.startIndex
            while end < places.endIndex {
                let start = end
                while end < places.endIndex, places[end].sortKey == places[start].sortKey { end += 1 }
                for place in places[start..<end].reversed() {
                    guard var entry = try item(at: place) else { continue }
                    if let key = place.sortKey { column.setKeys([key], of: &entry) }
                    if try !receive(entry) { return }
                }
            }
            guard let cut else { return }
            var isComplete = true
            let equal = column.conditions(equals: cut)
            try read(equal, selecting: column, orderedBy: "rowid") { entry in
                isComplete = try receive(entry)
                return isComplete
            }
            if !isComplete { return }
            upper = .before(cut)
            count = count >= 4096 ? count : min(count * 2, 4096)
        }
    }

    /// The first places in descending order. Those whose key is a text that is not UTF-8 are without one.
    private func places(
        _ column: SQLiteColumn, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, count: Int
    ) throws -> [StoragePlace] {
        let (conditions, expression) = (column.conditions(from: lower, to: upper), column.expression)
        let statement = try SQLiteStatement(
            """
            SELECT rowid, \(expression) FROM \(table.name)
            WHERE \(conditions.sql) ORDER BY \(expression) DESC, rowid DESC LIMIT \(conditions.limit)
            """, in: db)
        defer { statement.reset() }
        try conditions.bind(to: statement, limit: count)
        var places: [StoragePlace] = []
        while try statement.step() {
            places.append(StoragePlace(sortKey: statement.sortKey(at: 1), position: statement.integer(at: 0) ?? 0))
        }
        return places
    }

    private func item(at place: StoragePlace) throws -> StorageItem? {
        let columns = SQLiteItemColumns(fields.union(.place))
        let statement = try SQLiteStatement(
            "SELECT key, kind, \(columns.sql) FROM \(table.name) WHERE rowid = ?1", in: db)
        defer { statement.reset() }
        try statement.bind(place.position, at: 1)
        guard try statement.step() else { return nil }
        return try SQLiteTable.item(columns, in: statement)
    }
}

extension StorageSortKeyBound {
    /// The key at which it is, unless that stands for no value.
    fileprivate var key: StorageSortKey? {
        switch self {
        case .before(let key), .after(let key): key == .none ? nil : key
        case .start, .end: nil
        }
    }
}
