import Foundation
import GRDB

/// The register of a file's named collections. Each has a table of its own, named after its number, because SQLite
/// ignores the case of table names, while names of collections are compared byte by byte.
///
/// Names are bound and read with their length, as keys are: to GRDB, a text ends at its first NUL.
///
/// - After a table was created, each other connection of each program parses the whole schema again. So a file with
///   many collections gets spare tables: for each 16 collections one, together with the next table that is needed.
/// - The number of a removed collection is never used again, because programs may still have its table open. If it is
///   the greatest one, the register keeps it under the empty name, which no collection has.
enum SQLiteCollections {

    /// The prefix of the names of all collections' tables.
    static let prefix = "emporium_collection_"

    /// The number of collections for which there is one spare table.
    private static let collectionsPerSpare = 16

    /// The names, in the order in which the collections were created.
    static func names(in db: Database) throws -> [String] {
        guard try exists(in: db) else { return [] }
        let sql = "SELECT name FROM emporium_collections WHERE name <> '' ORDER BY id"
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(statement.text(at: 0)) }
        return names
    }

    /// Whether there is a register. Unlike GRDB's `tableExists`, this does not read the names of all tables.
    private static func exists(in db: Database) throws -> Bool {
        try !db.columnNames(of: "emporium_collections").isEmpty
    }

    /// Compares the names in the register with those in its index, which finds collections by their names: a damaged
    /// name there would make a collection look empty.
    static func check(in db: Database) throws {
        guard try exists(in: db) else { return }
        let finding = try String.fetchOne(db, sql: "PRAGMA main.integrity_check('emporium_collections')") ?? ""
        if finding == "ok" { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "The register of collections is damaged: \(finding)")
    }

    /// The table of a collection, `nil` if the register doesn't contain it.
    ///
    /// - Parameter name: The collection's name, which is not empty.
    static func table(of name: String, in db: Database) throws -> SQLiteTable? {
        guard try exists(in: db) else { return nil }
        let statement = try SQLiteStatement("SELECT id FROM emporium_collections WHERE name = ?1", in: db)
        defer { statement.reset() }
        let id = try statement.bind(name, at: 1) { try statement.step() ? statement.integer(at: 0) : nil }
        return id.map(table)
    }

    /// The table of a collection, `nil` if it does not exist.
    ///
    /// - Parameter name: The collection's name, the empty one for that without a name.
    static func existingTable(of name: String, in db: Database) throws -> SQLiteTable? {
        let table = name.isEmpty ? .standard : try table(of: name, in: db)
        return try table.flatMap { try $0.exists(in: db) ? $0 : nil }
    }

    /// The name of a table's collection, the empty one if it has none; `nil` if the register doesn't contain it.
    static func name(of table: SQLiteTable, in db: Database) throws -> String? {
        guard let id = id(of: table) else { return "" }
        guard try exists(in: db) else { return nil }
        let statement = try SQLiteStatement("SELECT name FROM emporium_collections WHERE id = ?1", in: db)
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        return try statement.step() && !statement.text(at: 0).isEmpty ? statement.text(at: 0) : nil
    }

    private static func table(_ id: Int) -> SQLiteTable { SQLiteTable(name: prefix + "\(id)") }

    /// Whether the register contains the collection of a table.
    static func contains(_ table: SQLiteTable, in db: Database) throws -> Bool {
        guard let id = id(of: table), try exists(in: db) else { return false }
        return try integer("SELECT 1 FROM emporium_collections WHERE id = \(id) AND name <> ''", in: db) != nil
    }

    static func id(of table: SQLiteTable) -> Int? {
        table.plainName.hasPrefix(prefix) ? Int(table.plainName.dropFirst(prefix.count)) : nil
    }

    static func integer(_ sql: String, in db: Database) throws -> Int? {
        try Int.fetchOne(db, sql: sql)
    }

    /// Creates a collection, inside of a transaction. If the register has its name already, this creates its table.
    static func create(_ name: String, in db: Database) throws -> SQLiteTable {
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS emporium_collections (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
        )
        if let table = try table(of: name, in: db) {
            try table.create(in: db)
            return table
        }
        var id = try integer("SELECT ifnull(max(id), 0) + 1 FROM emporium_collections", in: db) ?? 1
        // Items whose collection is missing in a damaged register must not get into another one.
        while try table(id).exists(in: db), try !table(id).isEmpty(in: db) { id += 1 }
        if try !table(id).isComplete(in: db) {
            let count = try integer("SELECT count(*) FROM emporium_collections", in: db) ?? 0
            for number in id...id + count / collectionsPerSpare { try table(number).create(in: db) }
        }
        let statement = try SQLiteStatement("INSERT INTO emporium_collections (id, name) VALUES (\(id), ?1)", in: db)
        defer { statement.reset() }
        _ = try statement.bind(name, at: 1) { try statement.step() }
        return table(id)
    }

    /// Whether a table is one of the spare tables.
    static func isSpare(_ table: SQLiteTable, in db: Database) throws -> Bool {
        guard let id = id(of: table), try exists(in: db), try table.isEmpty(in: db) else { return false }
        return try id > integer("SELECT ifnull(max(id), 0) FROM emporium_collections", in: db) ?? 0
    }
}
