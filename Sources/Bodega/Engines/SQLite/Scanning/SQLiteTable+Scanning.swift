import Foundation
import GRDB

extension SQLiteTable {

    /// Passes on items in order, see ``StorageBackend/scan(_:_:)``.
    ///
    /// - Parameter sets: See ``ScanRequest/within``.
    func scan(
        _ scan: StorageScan, within sets: [[StorageScan]] = [], _ fields: StorageFields, in db: Database,
        _ receive: (StorageItem) throws -> Bool
    ) throws {
        let sets = try sets.map { try $0.map(conditions) }
        func read(
            _ conditions: SQLiteConditions, selecting column: SQLiteColumn? = nil, orderedBy order: String?,
            _ receive: (StorageItem) throws -> Bool
        ) throws {
            var conditions = conditions
            for set in sets { conditions.add(rowsOf: name, withOneOf: set) }
            try self.read(conditions, in: db, fields, selecting: column, orderedBy: order, receive)
        }
        switch scan {
        case .all(let position):
            try read(
                SQLiteConditions("rowid > ?", .integer(Int64(position ?? .min))), orderedBy: "rowid", receive)
        case .search(let search): try self.search(search, fields, in: db, receive)
        case .irregular(let index):
            // The order of a compound index is that of the other members' keys.
            let order = index.others.isEmpty ? "rowid" : nil
            try read(SQLiteConditions(ofIrregular: SQLiteIndex(index, of: self)), orderedBy: order, receive)
        case .approximate(let index, let equal, let lower, let upper):
            let column = try SQLiteColumn(of: index, self, after: equal)
            var conditions = column.conditions(from: lower, to: upper)
            conditions.add("typeof(\(column.expression)) = 'real'")
            try read(conditions, selecting: column, orderedBy: nil, receive)
        case .range(let index, let equal, let lower, let upper, let isDescending, let place):
            let column = try SQLiteColumn(of: index, self, after: equal)
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
                try readDescending(column, from: lower, to: upper, in: db, fields, receive)
            } else {
                let order = "\(column.expression), rowid"
                try read(conditions, selecting: column, orderedBy: order, receive)
            }
        }
    }

    /// The number of items of a scan, at most a limit.
    func count(_ scan: StorageScan, upTo limit: Int, in db: Database) throws -> Int {
        // Counting many items again would read the same pages of the index again.
        if limit == .max { try db.allowLargeCache() }
        if case .search(let search) = scan { return try SQLiteSearch(search, of: self, in: db).count(upTo: limit) }
        if case .range(let index, let equal, let lower, let upper, let isDescending, let place?) = scan {
            let column = try SQLiteColumn(of: index, self, after: equal)
            guard column.isLast else { throw StorageError.hasNoPlaces }
            let (same, rest) = try column.rest(from: lower, to: upper, isDescending, after: place)
            let count = try count(same, upTo: limit, in: db)
            guard let rest, count < limit else { return count }
            let others = column.conditions(from: rest.0, to: rest.1)
            return count + (try self.count(others, upTo: limit == .max ? .max : limit - count, in: db))
        }
        return try count(conditions(of: scan), upTo: limit, in: db)
    }

    /// The conditions of the items of a scan, of a range without a place after which it begins.
    private func conditions(of scan: StorageScan) throws -> SQLiteConditions {
        switch scan {
        case .all(let position): return SQLiteConditions("rowid > ?", .integer(Int64(position ?? .min)))
        case .irregular(let index):
            return try SQLiteConditions(ofIrregular: SQLiteIndex(index, of: self))
        case .approximate(let index, let equal, let lower, let upper):
            let column = try SQLiteColumn(of: index, self, after: equal)
            var conditions = column.conditions(from: lower, to: upper)
            conditions.add("typeof(\(column.expression)) = 'real'")
            return conditions
        case .range(let index, let equal, let lower, let upper, _, _):
            return try SQLiteColumn(of: index, self, after: equal).conditions(from: lower, to: upper)
        case .search:
            throw StorageError(.invalidArgument, "A search is none of the sets in which scans can be.")
        }
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
        let column = try request.index.map { try SQLiteColumn(of: $0, self, after: []) }
        let columns = SQLiteItemColumns(request.fields, sortedBy: column)
        let lookup = try Lookup(Lookup.SQL(columns.sql, from: name), in: db)
        return try lookup.rows(of: request.keys) { key, row in
            try check()
            var item = try columns.item(key, in: row)
            if column?.isLast == false { item.sortKey = item.sortKeys.last }
            return item
        }
    }

    /// - Parameter column: The member of an index whose sort keys are read. Items whose key is a text that is not UTF-8
    ///   are left out.
    private func read(
        _ conditions: SQLiteConditions, in db: Database, _ fields: StorageFields,
        selecting column: SQLiteColumn? = nil, orderedBy order: String?, _ receive: (StorageItem) throws -> Bool
    ) throws {
        let columns = SQLiteItemColumns(fields.union(.place), sortedBy: column)
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
            if column != nil, item.sortKey == nil { continue }
            if try !receive(item) { return }
        }
    }

    static func item(_ columns: SQLiteItemColumns, in row: SQLiteStatement) throws -> StorageItem {
        try columns.item(SQLiteKey.key(text: row.text(at: 0), kind: row.integer(at: 1)), in: row, from: 2)
    }

    /// Reads in descending order of the keys, with equal keys in insertion order, which is no order of the index: it
    /// reads the places of some items in the order of the index, reverses the items with equal keys, and reads the last
    /// of these groups, whose end it has not seen, from its start.
    private func readDescending(
        _ column: SQLiteColumn, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, in db: Database,
        _ fields: StorageFields, _ receive: (StorageItem) throws -> Bool
    ) throws {
        var upper = upper
        var count = 64
        while true {
            var places = try places(column, from: lower, to: upper, count: count, in: db)
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
                    guard var entry = try item(at: place, fields, in: db) else { continue }
                    if let key = place.sortKey { column.setKeys([key], of: &entry) }
                    if try !receive(entry) { return }
                }
            }
            guard let cut else { return }
            var isComplete = true
            let equal = column.conditions(equals: cut)
            try read(equal, in: db, fields, selecting: column, orderedBy: "rowid") { entry in
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
        _ column: SQLiteColumn, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, count: Int,
        in db: Database
    ) throws -> [StoragePlace] {
        let (conditions, expression) = (column.conditions(from: lower, to: upper), column.expression)
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
        return try Self.item(columns, in: statement)
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
