import Foundation
import GRDB

/// The table of one collection and the statements on it.
///
/// The layout is Bodega's, with one column more, so that files are understood on both sides.
struct SQLiteTable: Sendable {
    /// The table's name, quoted.
    let name: String

    /// The table's name as it is.
    let plainName: String

    let queries: Queries

    /// The log of the collection's changes, which may not be there.
    let log: SQLiteChangeLog

    /// The statement that writes an item unless the row with its text belongs to a key of another kind.
    let upsert: String

    /// The same for an item that has dates: the fifth parameter is when it was first written.
    let datedUpsert: String

    /// - Parameter name: The table's name as it is.
    init(name: String) {
        plainName = name
        let name = "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        self.name = name
        queries = Queries(table: name)
        log = SQLiteChangeLog(ofTable: plainName, quoted: name)
        func upsert(created: String, alsoSetting more: String) -> String {
            """
            INSERT INTO \(name) (key, value, createdAt, updatedAt, kind) VALUES (?1, ?2, \(created), ?3, ?4)
            ON CONFLICT (key) DO UPDATE
            SET value = excluded.value, updatedAt = excluded.updatedAt, kind = excluded.kind\(more)
            WHERE kind IS NULL OR kind = excluded.kind
            """
        }
        self.upsert = upsert(created: "?3", alsoSetting: "")
        datedUpsert = upsert(created: "?5", alsoSetting: ", createdAt = excluded.createdAt")
    }

    /// The collection that Bodega knows.
    static let standard = SQLiteTable(name: "data")

    /// Creates the table, or adds the column that a table of Bodega lacks. Does nothing to a table that has all.
    func create(in db: Database) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(definition)")
        if try !columns(in: db).contains("kind") {
            try db.execute(sql: "ALTER TABLE \(name) ADD COLUMN kind INTEGER")
        }
    }

    /// Whether the table is there, with or without the column that a table of Bodega lacks.
    ///
    /// - Throws: ``StorageError/Code/cannotOpen`` if the table is somebody else's.
    func exists(in db: Database) throws -> Bool {
        try areThere(columns(in: db))
    }

    private func areThere(_ columns: Set<String>) throws -> Bool {
        if columns.isEmpty { return false }
        if columns.isSuperset(of: Self.referenceColumns) { return true }
        throw StorageError(
            .cannotOpen,
            "The database has a table \(name) of another program. Choose another file name or collection."
        )
    }

    /// What stands behind `CREATE TABLE`, as SQLite keeps it.
    ///
    /// The dates have defaults for the first Bodega, which leaves `createdAt` out. We set all columns.
    private var definition: String { definition(ofDates: "TEXT NOT NULL DEFAULT (\(SQLiteDate.now))") }

    private func definition(ofDates date: String) -> String {
        """
        \(name) (
            key TEXT PRIMARY KEY NOT NULL,
            value BLOB NOT NULL,
            createdAt \(date),
            updatedAt \(date),
            kind INTEGER
        )
        """
    }

    /// Whether the table is one that the first Bodega cannot insert into, because an earlier version of ours created it.
    func lacksDefaults(in db: Database) throws -> Bool {
        // Reading this is in constant time, unlike the rest, which only old files need.
        let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(name))")
        guard columns.contains(where: { $0["name"] == "createdAt" && $0["dflt_value"] == nil }) else { return false }
        let found = try String.fetchOne(
            db,
            sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?",
            arguments: [plainName]
        )
        return found == "CREATE TABLE " + definition(ofDates: "TEXT NOT NULL")
    }

    /// Gives the dates their defaults in a table that lacks them, inside of a transaction.
    ///
    /// Only the table's definition changes, and no row, index or trigger: this is the second procedure of
    /// https://www.sqlite.org/lang_altertable.html#otheralter, which SQLite gives for changing default values.
    func addDefaults(in db: Database) throws {
        let version = try SQLiteChangeLog.schemaVersion(in: db)
        try db.execute(sql: "PRAGMA writable_schema = ON")
        let result = Result {
            try db.execute(
                sql: "UPDATE main.sqlite_master SET sql = ? WHERE type = 'table' AND name = ?",
                arguments: ["CREATE TABLE " + definition, plainName]
            )
            // All connections, of all programs, read the schema again.
            try db.execute(sql: "PRAGMA schema_version = \(version + 1)")
        }
        try db.execute(sql: "PRAGMA writable_schema = OFF")
        try result.get()
    }

    /// Whether the table is there with all its columns.
    ///
    /// - Throws: ``StorageError/Code/cannotOpen`` if the table is somebody else's.
    func isComplete(in db: Database) throws -> Bool {
        let columns = try columns(in: db)
        return try areThere(columns) && columns.contains("kind")
    }

    /// The columns of a table of Bodega.
    static let referenceColumns: Set = ["key", "value", "createdAt", "updatedAt"]

    private func columns(in db: Database) throws -> Set<String> {
        Set(try Row.fetchAll(db, sql: "PRAGMA table_info(\(name))").map { $0["name"] as String })
    }
}
