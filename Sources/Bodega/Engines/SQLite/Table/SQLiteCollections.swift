import Foundation
import GRDB

/// The register of a file's named collections. Each has a table of its own, named after its number, because SQLite
/// ignores the case of table names, while names of collections are compared byte by byte.
///
/// Names are bound and read with their length, as keys are: to GRDB, a text ends at its first NUL.
enum SQLiteCollections {

    /// The names, in the order in which the collections were created.
    static func names(in db: Database) throws -> [String] {
        guard try exists(in: db) else { return [] }
        let statement = try SQLiteStatement("SELECT name FROM emporium_collections ORDER BY id", in: db)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(statement.text(at: 0)) }
        return names
    }

    /// Whether there is a register. Unlike GRDB's `tableExists`, this does not read the names of all tables.
    private static func exists(in db: Database) throws -> Bool {
        try !SQLiteColumn.all(of: "emporium_collections", in: db).isEmpty
    }

    /// The table of a collection, `nil` if the register doesn't contain it.
    static func table(of name: String, in db: Database) throws -> SQLiteTable? {
        guard try exists(in: db) else { return nil }
        let statement = try SQLiteStatement("SELECT id FROM emporium_collections WHERE name = ?1", in: db)
        defer { statement.reset() }
        let id = try statement.bind(name, at: 1) { try statement.step() ? statement.integer(at: 0) : nil }
        return id.map { SQLiteTable(name: "emporium_collection_\($0)") }
    }

    /// Adds a collection to the register, inside of a transaction.
    static func add(_ name: String, in db: Database) throws {
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS emporium_collections (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
        )
        let statement = try SQLiteStatement("INSERT OR IGNORE INTO emporium_collections (name) VALUES (?1)", in: db)
        defer { statement.reset() }
        _ = try statement.bind(name, at: 1) { try statement.step() }
    }
}
