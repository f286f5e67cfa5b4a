import Foundation
import GRDB

extension SQLiteTable {

    /// Passes on items in order, see ``StorageBackend/scan(_:_:)``.
    func scan(
        _ scan: StorageScan, _ fields: StorageFields, in db: Database, _ receive: (StorageItem) throws -> Bool
    ) throws {
        switch scan {
        case .all(let position):
            try read(
                SQLiteConditions("rowid > ?", .integer(Int64(position ?? .min))), in: db, fields, orderedBy: "rowid",
                receive)
        case .irregular(let index):
            let expression = try SQLiteIndex(index, of: self).expression
            try read(SQLiteConditions("\(expression) = x''"), in: db, fields, orderedBy: "rowid", receive)
        case .approximate(let index, let lower, let upper):
            let expression = try SQLiteIndex(index, of: self).expression
            var conditions = SQLiteConditions(expression, from: lower, to: upper)
            conditions.add("typeof(\(expression)) = 'real'")
            try read(conditions, in: db, fields, selecting: expression, orderedBy: nil, receive)
        case .range(let index, let lower, let upper, let isDescending, let place):
            let expression = try SQLiteIndex(index, of: self).expression
            var (lower, upper) = (lower, upper)
            if let place {
                let (equal, rest) = try Self.rest(expression, from: lower, to: upper, isDescending, after: place)
                var isComplete = true
                try read(equal, in: db, fields, selecting: expression, orderedBy: "rowid") { entry in
                    isComplete = try receive(entry)
                    return isComplete
                }
                guard isComplete, let rest else { return }
                (lower, upper) = rest
            }
            let conditions = SQLiteConditions(expression, from: lower, to: upper)
            if conditions.isEqual {
                // With the expression in the order, too, SQLite would sort all rows, and their values, in a file.
                try read(conditions, in: db, fields, selecting: expression, orderedBy: "rowid", receive)
            } else if isDescending {
                try readDescending(expression, from: lower, to: upper, in: db, fields, receive)
            } else {
                try read(conditions, in: db, fields, selecting: expression, orderedBy: "\(expression), rowid", receive)
            }
        }
    }

    /// The parts of a range after a place: the later items with its key, and the bounds of those with other keys.
    private static func rest(
        _ expression: String, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, _ isDescending: Bool,
        after place: StoragePlace
    ) throws -> (equal: SQLiteConditions, other: (StorageSortKeyBound, StorageSortKeyBound)?) {
        guard let key = place.sortKey else {
            throw StorageError(.invalidArgument, "A place in the order of an index needs a sort key.")
        }
        var equal = SQLiteConditions(expression, equals: key)
        equal.add("rowid > ?", .integer(Int64(place.position)))
        // Items without a value come last in both orders.
        if key == .none { return (equal, nil) }
        let (lower, upper) =
            isDescending ? (lower, min(upper, .before(key))) : (max(lower, .after(key)), upper)
        return (equal, lower < upper ? (lower, upper) : nil)
    }

    /// The number of items of a scan, at most a limit.
    func count(_ scan: StorageScan, upTo limit: Int, in db: Database) throws -> Int {
        // Counting many items again would read the same pages of the index again.
        if limit == .max { try db.allowLargeCache() }
        var conditions: SQLiteConditions
        switch scan {
        case .all(let position): conditions = SQLiteConditions("rowid > ?", .integer(Int64(position ?? .min)))
        case .irregular(let index):
            conditions = SQLiteConditions("\(try SQLiteIndex(index, of: self).expression) = x''")
        case .approximate(let index, let lower, let upper):
            let expression = try SQLiteIndex(index, of: self).expression
            conditions = SQLiteConditions(expression, from: lower, to: upper)
            conditions.add("typeof(\(expression)) = 'real'")
        case .range(let index, let lower, let upper, let isDescending, let place):
            let expression = try SQLiteIndex(index, of: self).expression
            guard let place else {
                conditions = SQLiteConditions(expression, from: lower, to: upper)
                break
            }
            let (equal, rest) = try Self.rest(expression, from: lower, to: upper, isDescending, after: place)
            let count = try count(equal, upTo: limit, in: db)
            guard let rest, count < limit else { return count }
            let others = SQLiteConditions(expression, from: rest.0, to: rest.1)
            return count + (try self.count(others, upTo: limit == .max ? .max : limit - count, in: db))
        }
        return try count(conditions, upTo: limit, in: db)
    }

    private func count(_ conditions: SQLiteConditions, upTo limit: Int, in db: Database) throws -> Int {
        let rows = "FROM \(name) WHERE \(conditions.sql)"
        let statement = try SQLiteStatement(
            limit == .max
                ? "SELECT count(*) \(rows)" : "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT \(conditions.limit))",
            in: db)
        defer { statement.reset() }
        try conditions.bind(to: statement, limit: limit)
        return try statement.step() ? statement.integer(at: 0) ?? 0 : 0
    }

    /// Reads items with any fields, in the order of their keys.
    ///
    /// - Parameter check: Is called before each item. If it throws, the read ends.
    func items(
        _ request: FetchRequest, in db: Database, _ check: () throws -> Void = {}
    ) throws -> [StorageItem] {
        // With a small cache, the same pages would be read again and again.
        if request.keys.count >= 1_000 { try db.allowLargeCache() }
        if request.fields == .data {
            let lookup = try Lookup(queries.value, in: db)
            return try lookup.rows(of: request.keys) { key, row in
                try check()
                return StorageItem(key: key, data: row.data(at: 0))
            }
        }
        if request.fields.isEmpty {
            let lookup = try Lookup(queries.existence, in: db)
            return try lookup.rows(of: request.keys) { key, _ in
                try check()
                return StorageItem(key: key)
            }
        }
        let expression = try request.index.map { try SQLiteIndex($0, of: self).expression }
        let columns = SQLiteItemColumns(request.fields, sortedBy: expression)
        let lookup = try Lookup(Lookup.SQL(columns.sql, from: name), in: db)
        return try lookup.rows(of: request.keys) { key, row in
            try check()
            return try columns.item(key, in: row)
        }
    }

    /// - Parameter expression: The SQL of an index, whose sort keys are read. Items whose key is a text that is not
    ///   UTF-8 are left out.
    private func read(
        _ conditions: SQLiteConditions, in db: Database, _ fields: StorageFields,
        selecting expression: String? = nil, orderedBy order: String?, _ receive: (StorageItem) throws -> Bool
    ) throws {
        let columns = SQLiteItemColumns(fields.union(.place), sortedBy: expression)
        let statement = try SQLiteStatement(
            """
            SELECT key, kind, \(columns.sql) FROM \(name)
            WHERE \(conditions.sql)\(order.map { " ORDER BY \($0)" } ?? "")
            """, in: db)
        defer { statement.reset() }
        try conditions.bind(to: statement)
        while try statement.step() {
            let item = try Self.item(columns, in: statement)
            // Swift can't decode an item whose key is not UTF-8, and nothing could go on after its place.
            if expression != nil, item.sortKey == nil { continue }
            if try !receive(item) { return }
        }
    }

    private static func item(_ columns: SQLiteItemColumns, in row: SQLiteStatement) throws -> StorageItem {
        try columns.item(SQLiteKey.key(text: row.text(at: 0), kind: row.integer(at: 1)), in: row, from: 2)
    }

    /// Reads in descending order of the keys, with equal keys in insertion order, which is no order of the index: it
    /// reads the places of some items in the order of the index, reverses the items with equal keys, and reads the last
    /// of these groups, whose end it has not seen, from its start.
    private func readDescending(
        _ expression: String, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, in db: Database,
        _ fields: StorageFields, _ receive: (StorageItem) throws -> Bool
    ) throws {
        var upper = upper
        var count = 64
        while true {
            var places = try places(expression, from: lower, to: upper, count: count, in: db)
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
                    guard let entry = try item(at: place, fields, in: db) else { continue }
                    if try !receive(entry) { return }
                }
            }
            guard let cut else { return }
            var isComplete = true
            let equal = SQLiteConditions(expression, equals: cut)
            try read(equal, in: db, fields, selecting: expression, orderedBy: "rowid") { entry in
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
        _ expression: String, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, count: Int,
        in db: Database
    ) throws -> [StoragePlace] {
        let conditions = SQLiteConditions(expression, from: lower, to: upper)
        let statement = try SQLiteStatement(
            """
            SELECT rowid, \(expression) FROM \(name)
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

    private func item(at place: StoragePlace, _ fields: StorageFields, in db: Database) throws -> StorageItem? {
        let columns = SQLiteItemColumns(fields.union(.place))
        let statement = try SQLiteStatement("SELECT key, kind, \(columns.sql) FROM \(name) WHERE rowid = ?1", in: db)
        defer { statement.reset() }
        try statement.bind(place.position, at: 1)
        guard try statement.step() else { return nil }
        var item = try Self.item(columns, in: statement)
        item.sortKey = place.sortKey
        return item
    }
}

/// The conditions of a statement on a table, with their values.
struct SQLiteConditions {
    private(set) var sql: String
    private var values: [StorageSortKey]
    /// Whether they are about one key, whose items are in insertion order in the index.
    private(set) var isEqual = false

    init(_ sql: String, _ values: StorageSortKey...) {
        self.sql = sql
        self.values = values
    }

    /// The condition that an expression has a sort key. Unlike a range of one key, it lets SQLite read by row within
    /// the index.
    init(_ expression: String, equals key: StorageSortKey) {
        self.init(key == .none ? "\(expression) IS NULL" : "")
        isEqual = true
        if key != .none { add("\(expression) = ?", key) }
    }

    /// The condition that an expression is in a range of sort keys. A range that ends with the end is that of no value.
    init(_ expression: String, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound) {
        if upper == .end {
            self.init(expression, equals: .none)
            return
        }
        if case .before(let key) = lower, upper == .after(key) {
            self.init(expression, equals: key)
            return
        }
        self.init("")
        switch lower {
        case .before(let key): add("\(expression) >= ?", key)
        case .after(let key): add("\(expression) > ?", key)
        // NULL is not greater than anything.
        case .start, .end: add("\(expression) >= -9e999")
        }
        switch upper {
        case .before(.none), .start, .end: add("\(expression) < x''")
        case .before(let key): add("\(expression) < ?", key)
        case .after(let key): add("\(expression) <= ?", key)
        }
    }

    mutating func add(_ sql: String, _ values: StorageSortKey...) {
        self.sql += self.sql.isEmpty ? sql : " AND \(sql)"
        self.values += values
    }

    /// A limit of the number of rows. It is a parameter, because each text of a statement is prepared and kept.
    var limit: String { "?\(values.count + 1)" }

    /// - Parameter limit: The limit, if the statement has one.
    func bind(to statement: SQLiteStatement, limit: Int = .max) throws {
        if limit != .max { try statement.bind(limit, at: Int32(values.count + 1)) }
        for (index, value) in values.enumerated() {
            switch value {
            case .integer(let integer): try statement.bind(Int(integer), at: Int32(index + 1))
            case .real(let real): try statement.bind(real, at: Int32(index + 1))
            case .text(let text): try statement.bindCopy(of: text, at: Int32(index + 1))
            case .none: try statement.bindNull(at: Int32(index + 1))
            }
        }
    }
}

extension SQLiteStatement {
    /// The sort key in a column of the current row, `nil` if the index knows nothing about the item.
    func sortKey(at column: Int32) -> StorageSortKey? {
        switch type(at: column) {
        case .integer: .integer(Int64(integer(at: column) ?? 0))
        case .real: StorageSortKey(real(at: column))
        case .text: hasInvalidText(at: column) ? nil : .text(text(at: column))
        case .null: StorageSortKey.none
        case .blob: nil
        }
    }
}
