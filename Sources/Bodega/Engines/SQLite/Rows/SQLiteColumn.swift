import GRDB

/// A column of a table.
struct SQLiteColumn {
    let hasDefault: Bool

    /// The columns of a table by their names, none if there is no table.
    ///
    /// - Parameter table: The table's name, quoted. A temporary table or view of this name comes first.
    static func all(of table: String, in db: Database) throws -> [String: SQLiteColumn] {
        let statement = try SQLiteStatement("PRAGMA table_info(\(table))", in: db)
        defer { statement.reset() }
        var columns: [String: SQLiteColumn] = [:]
        while try statement.step() {
            columns[statement.text(at: 1)] = SQLiteColumn(hasDefault: !statement.isNull(at: 4))
        }
        return columns
    }
}
