import Foundation
import GRDB

extension SQLiteTable {

    /// The value under a key.
    func value(of key: CacheKey, in db: Database) throws -> Data? {
        try withRow(of: key, selecting: "value", in: db) { $0.data(at: 0) }
    }

    /// Whether a key has a row.
    func contains(_ key: CacheKey, in db: Database) throws -> Bool {
        try withRow(of: key, selecting: "1", in: db) { _ in true } ?? false
    }

    /// The dates of an item.
    func dates(of key: CacheKey, in db: Database) throws -> StorageDates? {
        try withRow(of: key, selecting: "createdAt, updatedAt", in: db) { row in
            let texts = (row.text(at: 0), row.text(at: 1))
            guard let createdAt = SQLiteDate.date(of: texts.0), let updatedAt = SQLiteDate.date(of: texts.1) else {
                throw StorageError(.damaged, "The item's dates \(texts) are not dates. Write it anew.", key: key)
            }
            return StorageDates(createdAt: createdAt, updatedAt: updatedAt)
        }
    }

    /// All values in insertion order.
    func allValues(in db: Database) throws -> [Data] {
        try allRows(selecting: "value", in: db) { $0.data(at: 0) }
    }

    /// All keys in insertion order.
    func allKeys(in db: Database) throws -> [CacheKey] {
        try allRows(selecting: "key, kind", in: db) { SQLiteKey.key(text: $0.text(at: 0), kind: $0.integer(at: 1)) }
    }

    /// All items in insertion order.
    func allItems(in db: Database) throws -> [(key: CacheKey, data: Data)] {
        try allRows(selecting: "key, kind, value", in: db) {
            (SQLiteKey.key(text: $0.text(at: 0), kind: $0.integer(at: 1)), $0.data(at: 2))
        }
    }

    /// The number of items.
    func count(in db: Database) throws -> Int {
        let statement = try SQLiteStatement("SELECT count(*) FROM \(name)", in: db)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(at: 0) ?? 0 : 0
    }

    /// Reads every row, in the order of the row ids: they grow with each insertion and stay when a row is updated.
    private func allRows<Element>(
        selecting columns: String,
        in db: Database,
        _ element: (SQLiteStatement) throws -> Element
    ) throws -> [Element] {
        let statement = try SQLiteStatement("SELECT \(columns) FROM \(name) ORDER BY rowid", in: db)
        defer { statement.reset() }
        var elements: [Element] = []
        while try statement.step() { elements.append(try element(statement)) }
        if elements.isEmpty, try count(in: db) > 0 {
            // The rows are gone, but the index over their keys still has them: the first page of the table is damaged.
            throw StorageError(.damaged, "The database has lost the items that its index lists. Nothing was changed.")
        }
        return elements
    }

    /// Finds the row of a key; ``SQLiteKey`` says where it can stand.
    private func withRow<Result>(
        of key: CacheKey,
        selecting columns: String,
        in db: Database,
        _ body: (SQLiteStatement) throws -> Result
    ) throws -> Result? {
        let position = SQLiteKey(key)
        if key.kind == .hashed {
            let sql = "SELECT \(columns) FROM \(name) WHERE key = ?1 AND (kind IS NULL OR kind = 0)"
            let statement = try SQLiteStatement(sql, in: db)
            defer { statement.reset() }
            return try statement.bind(position.home ?? position.detour, at: 1) {
                try statement.step() ? body(statement) : nil
            }
        }
        // A row of this kind, wherever it stands, comes before one of Bodega's.
        let sql = """
            SELECT \(columns) FROM \(name)
            WHERE (key = ?1 OR key = ?2) AND (kind IS NULL OR kind = ?3)
            ORDER BY kind IS NULL LIMIT 1
            """
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        let detour = position.detour
        return try statement.bind(position.home ?? detour, at: 1) {
            try statement.bind(detour, at: 2) {
                try statement.bind(position.kind, at: 3)
                return try statement.step() ? body(statement) : nil
            }
        }
    }
}
