import Foundation
import GRDB

extension SQLiteTable {

    /// The value under a key.
    func value(of key: CacheKey, in db: Database) throws -> Data? {
        try Lookup(queries.value, in: db).row(of: key) { $0.data(at: 0) }
    }

    /// The keys that have a row, in the given order.
    func existing(among keys: [CacheKey], in db: Database) throws -> [CacheKey] {
        let lookup = try Lookup(queries.existence, in: db)
        return try lookup.rows(of: keys) { key, _ in key }
    }

    /// The dates of an item.
    func dates(of key: CacheKey, in db: Database) throws -> StorageDates? {
        try Lookup(queries.dates, in: db).row(of: key) { row in
            try Self.dates(of: key, in: row, from: 0)
        }
    }

    /// The dates in two columns of a row.
    static func dates(of key: CacheKey, in row: SQLiteStatement, from column: Int32) throws -> StorageDates {
        let texts = (row.text(at: column), row.text(at: column + 1))
        guard let createdAt = SQLiteDate.date(of: texts.0), let updatedAt = SQLiteDate.date(of: texts.1) else {
            throw StorageError(
                .damaged,
                """
                The item's dates, "\(texts.0)" and "\(texts.1)", can't be read. They have to be like \
                "2022-06-22T18:30:00.123", in UTC. Remove the item and write it again.
                """, key: key)
        }
        return StorageDates(createdAt: createdAt, updatedAt: updatedAt)
    }

    /// All values in insertion order.
    func allValues(in db: Database) throws -> [Data] {
        try allRows(selecting: "value", in: db) { $0.data(at: 0) }
    }

    /// All keys in insertion order.
    func allKeys(in db: Database) throws -> [CacheKey] {
        try allRows(selecting: "key, kind", in: db) { SQLiteKey.key(text: $0.text(at: 0), kind: $0.integer(at: 1)) }
    }

    /// Some of the first and of the last keys, in insertion order, each at most once.
    func someKeys(_ count: Int, in db: Database) throws -> [CacheKey] {
        let end = { (order: String) in
            "SELECT * FROM (SELECT rowid AS place, key, kind FROM \(name) ORDER BY rowid \(order) LIMIT \(count))"
        }
        let statement = try SQLiteStatement("\(end("ASC")) UNION \(end("DESC")) ORDER BY place", in: db)
        defer { statement.reset() }
        var keys: [CacheKey] = []
        while try statement.step() {
            keys.append(SQLiteKey.key(text: statement.text(at: 1), kind: statement.integer(at: 2)))
        }
        return keys
    }

    /// All items in insertion order.
    func allItems(in db: Database) throws -> [(key: CacheKey, data: Data)] {
        try allRows(selecting: itemColumns, in: db, Self.item)
    }

    /// Passes on all items in insertion order, in parts of at most 512 items and, unless it is a single item, one
    /// mebibyte. There is at least one part.
    func readAllItems(in db: Database, _ receive: (Int, [(key: CacheKey, data: Data)]) -> Void) throws {
        var (part, size, number): ([(key: CacheKey, data: Data)], Int, Int) = ([], 0, 0)
        try forEachRow(selecting: itemColumns, in: db) { row in
            let item = Self.item(in: row)
            if part.count == 512 || !part.isEmpty && size + item.data.count > 1 << 20 {
                receive(number, part)
                (part, size, number) = ([], 0, number + 1)
            }
            part.append(item)
            size += item.data.count
        }
        receive(number, part)
    }

    private var itemColumns: String { "key, kind, value" }

    private static func item(in row: SQLiteStatement) -> (key: CacheKey, data: Data) {
        (SQLiteKey.key(text: row.text(at: 0), kind: row.integer(at: 1)), row.data(at: 2))
    }

    /// The number of items.
    func count(in db: Database) throws -> Int {
        try SQLiteStatement.integer("SELECT count(*) FROM \(name)", in: db) ?? 0
    }

    /// Whether there is no item.
    func isEmpty(in db: Database) throws -> Bool {
        let statement = try SQLiteStatement("SELECT 1 FROM \(name) LIMIT 1", in: db)
        defer { statement.reset() }
        return try !statement.step()
    }

    /// Reads every row, in the order of the row ids: they increase with each insertion, and updates keep them.
    private func allRows<Element>(
        selecting columns: String,
        in db: Database,
        _ element: (SQLiteStatement) throws -> Element
    ) throws -> [Element] {
        var elements: [Element] = []
        try forEachRow(selecting: columns, in: db) { elements.append(try element($0)) }
        return elements
    }

    private func forEachRow(
        selecting columns: String, in db: Database, _ body: (SQLiteStatement) throws -> Void
    ) throws {
        let statement = try SQLiteStatement("SELECT \(columns) FROM \(name) ORDER BY rowid", in: db)
        defer { statement.reset() }
        var isEmpty = true
        while try statement.step() {
            isEmpty = false
            try body(statement)
        }
        if isEmpty, try count(in: db) > 0 {
            // The rows are gone, but the index of their keys still lists them: the first page of the table is damaged.
            throw StorageError(
                .damaged, "The database has lost the items that its index lists. Nothing was changed. Restore a backup."
            )
        }
    }
}
