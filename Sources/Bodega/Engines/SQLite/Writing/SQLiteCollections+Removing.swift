import GRDB

extension SQLiteCollections {

    /// Removes a collection with its items and its log, inside of a transaction. Does nothing if it has been removed.
    static func remove(_ table: SQLiteTable, in db: Database) throws {
        guard let id = id(of: table), try contains(table, in: db) else { return }
        try table.log.remove(in: db)
        try SQLiteRowNumbers.forget(table, in: db)
        try SQLiteSearchIndex.remove(of: table, in: db)
        try SQLiteIndexBuild.removeAll(of: table, in: db)
        // With the table's indexes.
        try db.execute(sql: "DROP TABLE IF EXISTS \(table.name)")
        if try integer("SELECT max(id) FROM emporium_collections", in: db) == id {
            try db.execute(sql: "UPDATE OR REPLACE emporium_collections SET name = '' WHERE id = \(id)")
        } else {
            try db.execute(sql: "DELETE FROM emporium_collections WHERE id = \(id)")
        }
    }
}
