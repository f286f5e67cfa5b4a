import GRDB

/// Lets the statements of this package read a file in which the unnamed collection's table lacks a column, as Bodega 2
/// creates it, or doesn't exist, because the file has named collections only.
///
/// Opening such a file for writing adds what is missing. A connection that only reads has a temporary view with the
/// table's name instead, in memory.
enum SQLiteReadView {

    /// Creates the view if necessary.
    static func create(in db: Database) throws {
        let columns = try tableColumns(in: db)
        if columns.isSuperset(of: SQLiteTable.referenceColumns) {
            if columns.contains("kind") { return }
            try db.execute(
                sql: """
                    CREATE TEMP VIEW data AS
                    SELECT rowid AS rowid, key, value, createdAt, updatedAt, NULL AS kind FROM main.data
                    """
            )
        } else if try columns.isEmpty && !SQLiteCollections.names(in: db).isEmpty {
            try db.execute(
                sql: """
                    CREATE TEMP VIEW data AS
                    SELECT 0 AS rowid, '' AS key, x'' AS value, '' AS createdAt, '' AS updatedAt, NULL AS kind WHERE 0
                    """
            )
        }
    }

    /// Whether there is a view.
    static func hidesTable(in db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = 'data')") ?? false
    }

    /// Whether the table still lacks the column that the view adds.
    static func isStillNeeded(in db: Database) throws -> Bool {
        try !tableColumns(in: db).contains("kind")
    }

    private static func tableColumns(in db: Database) throws -> Set<String> {
        Set(try Row.fetchAll(db, sql: "PRAGMA main.table_info(data)").map { $0["name"] as String })
    }
}
