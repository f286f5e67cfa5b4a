import Foundation

/// The columns of a row from which an item is read, with the fields that a request asks for.
struct SQLiteItemColumns {
    private let fields: StorageFields
    private let expression: String?

    /// - Parameters:
    ///   - fields: The fields.
    ///   - expression: The SQL of an index, whose sort key is read.
    init(_ fields: StorageFields, sortedBy expression: String? = nil) {
        (self.fields, self.expression) = (fields, expression)
    }

    /// The columns in SQL.
    var sql: String {
        let data = fields.isDisjoint(with: [.data, .expiry]) ? "NULL" : "value"
        let dates = fields.contains(.dates) ? ", createdAt, updatedAt" : ""
        return "\(data), rowid, \(expression ?? "NULL")\(dates)"
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
        if expression != nil { item.sortKey = row.sortKey(at: column + 2) }
        if fields.contains(.dates) { item.dates = try SQLiteTable.dates(of: key, in: row, from: column + 3) }
        return item
    }
}
