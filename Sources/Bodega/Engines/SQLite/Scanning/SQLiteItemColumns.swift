import Foundation

/// The columns of a row from which an item is read, with the fields that a request asks for.
struct SQLiteItemColumns {
    private let fields: StorageFields
    private let column: SQLiteColumn?

    /// - Parameters:
    ///   - fields: The fields.
    ///   - column: A member of an index. Its sort key is read, and those of the members after it.
    init(_ fields: StorageFields, sortedBy column: SQLiteColumn? = nil) {
        (self.fields, self.column) = (fields, column)
    }

    /// The columns in SQL.
    var sql: String {
        let data = fields.isDisjoint(with: [.data, .expiry]) ? "NULL" : "value"
        let dates = fields.contains(.dates) ? ", createdAt, updatedAt" : ""
        let keys = (column?.expressions ?? []).map { ", \($0)" }.joined()
        return "\(data), rowid\(dates)\(keys)"
    }

    /// Reads an item.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - row: The row.
    ///   - column: The first of the columns.
    func item(_ key: CacheKey, in row: SQLiteStatement, from column: Int32 = 0) throws -> StorageItem {
        var item = StorageItem(key: key)
        if fields.contains(.place) { item.position = row.integer(at: column + 1) ?? 0 }
        if !fields.isDisjoint(with: [.data, .expiry]) { item.data = row.data(at: column) }
        var next = column + 2
        if fields.contains(.dates) {
            item.dates = try SQLiteTable.dates(of: key, in: row, from: next)
            next += 2
        }
        self.column?.read(&item, in: row, from: next)
        return item
    }
}
