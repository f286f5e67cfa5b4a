import Foundation
import GRDB

extension SQLiteTable {

    /// Passes on the items of a scan in order.
    func scan(
        _ scan: StorageScan, _ fields: StorageFields, in db: Database, _ receive: (StorageItem) throws -> Bool
    ) throws {
        var reader = try SQLiteScanReader(self, fields, in: db)
        try reader.read(scan, receive)
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
    func conditions(of scan: StorageScan) throws -> SQLiteConditions {
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

    static func item(_ columns: SQLiteItemColumns, in row: SQLiteStatement) throws -> StorageItem {
        try columns.item(SQLiteKey.key(text: row.text(at: 0), kind: row.integer(at: 1)), in: row, from: 2)
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
