import Foundation
import GRDB

/// The register of a file's named collections. Each has a table of its own, named after its number, because SQLite
/// tells names of tables apart by fewer characters than we do names of collections.
///
/// Names are bound and read with their length, as keys are: GRDB takes a text to end at its first NUL.
enum SQLiteCollections {

    /// The names in the order in which the collections were created.
    static func names(in db: Database) throws -> [String] {
        guard try db.tableExists("emporium_collections") else { return [] }
        let statement = try SQLiteStatement("SELECT name FROM emporium_collections ORDER BY id", in: db)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(statement.text(at: 0)) }
        return names
    }

    /// The table of a collection that exists.
    static func table(of name: String, in db: Database) throws -> SQLiteTable? {
        guard try db.tableExists("emporium_collections") else { return nil }
        let statement = try SQLiteStatement("SELECT id FROM emporium_collections WHERE name = ?1", in: db)
        defer { statement.reset() }
        let id = try statement.bind(name, at: 1) { try statement.step() ? statement.integer(at: 0) : nil }
        return id.map { SQLiteTable(name: "emporium_collection_\($0)") }
    }

    /// Enters a collection into the register, inside of a transaction.
    static func add(_ name: String, in db: Database) throws {
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS emporium_collections (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
        )
        let statement = try SQLiteStatement("INSERT OR IGNORE INTO emporium_collections (name) VALUES (?1)", in: db)
        defer { statement.reset() }
        _ = try statement.bind(name, at: 1) { try statement.step() }
    }
}

extension SQLiteFile {

    /// The table of a named collection, which is entered into the register if it is new.
    func table(ofCollection name: String) throws -> SQLiteTable {
        guard !name.isEmpty else {
            throw StorageError(.invalidArgument, "A collection needs a name that is not empty.", file: url)
        }
        return try mapped {
            let found = try readManyHere { db -> SQLiteTable? in
                guard let table = try SQLiteCollections.table(of: name, in: db) else { return nil }
                if case .reader = connections, try !table.exists(in: db) { return nil }
                return table
            }
            if let found { return found }
            guard case .pool(let pool, _) = connections else {
                throw StorageError(.cannotOpen, "The database has no collection \"\(name)\".")
            }
            return try pool.writeWithoutTransaction { db in
                var table: SQLiteTable?
                try db.inTransaction(.immediate) {
                    try SQLiteCollections.add(name, in: db)
                    table = try SQLiteCollections.table(of: name, in: db)
                    return .commit
                }
                guard let table else { throw StorageError(.damaged, "The register of collections is damaged.") }
                return table
            }
        }
    }
}
