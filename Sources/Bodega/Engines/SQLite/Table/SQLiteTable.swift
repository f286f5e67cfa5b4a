import Foundation
import GRDB

/// The table of one collection and the statements on it.
///
/// The layout is that of Bodega 2 with one more column, in an order of its own, so that both can use the file.
struct SQLiteTable: Sendable {
    /// The table's name, quoted.
    let name: String

    /// The table's name, unquoted.
    let plainName: String

    let queries: Queries

    /// The log of the collection's changes, which may not exist.
    let log: SQLiteLog

    /// The statement that writes an item unless the row with its text belongs to a key of another kind.
    let upsert: String

    /// The same for an item with dates: the fifth parameter is the date of its first write.
    let datedUpsert: String

    /// The same statements for an item that, if it is new, gets the row number in the sixth parameter.
    let numberedUpsert: String
    let numberedDatedUpsert: String

    /// - Parameter name: The table's name, unquoted.
    init(name: String) {
        plainName = name
        let name = "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        self.name = name
        queries = Queries(table: name)
        // Without the prefix, which would be in the names of the log's many parts, too.
        let short =
            Self.isOfCollection(plainName) ? String(plainName.dropFirst(SQLiteCollections.prefix.count)) : plainName
        log = SQLiteLog(ofTable: plainName, short: short, quoted: name)
        func upsert(created: String, alsoSetting more: String, isNumbered: Bool = false) -> String {
            let (column, number) = isNumbered ? ("rowid, ", "?6, ") : ("", "")
            return """
                INSERT INTO \(name) (\(column)key, value, createdAt, updatedAt, kind)
                VALUES (\(number)?1, ?2, \(created), ?3, ?4)
                ON CONFLICT (key) DO UPDATE
                SET value = excluded.value, updatedAt = excluded.updatedAt, kind = excluded.kind\(more)
                WHERE kind IS NULL OR kind = excluded.kind
                """
        }
        let setting = ", createdAt = excluded.createdAt"
        self.upsert = upsert(created: "?3", alsoSetting: "")
        datedUpsert = upsert(created: "?5", alsoSetting: setting)
        numberedUpsert = upsert(created: "?3", alsoSetting: "", isNumbered: true)
        numberedDatedUpsert = upsert(created: "?5", alsoSetting: setting, isNumbered: true)
    }

    /// Whether the table is that of a named collection.
    var isOfCollection: Bool { Self.isOfCollection(plainName) }

    private static func isOfCollection(_ plainName: String) -> Bool { plainName.hasPrefix(SQLiteCollections.prefix) }

    /// The unnamed collection, which is the one that Bodega 2 knows.
    static let standard = SQLiteTable(name: "data")

    /// Creates the table, or adds the column that a table of Bodega 2 lacks. Does nothing to a complete table.
    func create(in db: Database) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(definition)")
        if try !db.columnNames(of: name).contains("kind") {
            try db.execute(sql: "ALTER TABLE \(name) ADD COLUMN kind INTEGER")
        }
    }

    /// The state of a collection's table.
    enum Condition: Sendable {
        case missing
        /// It lacks the column that a table of Bodega 2 lacks.
        case incomplete
        case complete
    }

    /// The state of the table.
    ///
    /// - Throws: ``StorageError/Code/cannotOpen`` if the table belongs to another program.
    func condition(in db: Database) throws -> Condition {
        let columns = try db.columnNames(of: name)
        if columns.isEmpty { return .missing }
        guard try Self.referenceColumns.isSubset(of: columns) && hasRowIDs(in: db) else {
            throw StorageError(
                .cannotOpen,
                "The database has a table \(name) of another program. Choose another file name or collection."
            )
        }
        return columns.contains("kind") ? .complete : .incomplete
    }

    /// Whether the rows have identifiers, which give their order. A table of another program can be without.
    private func hasRowIDs(in db: Database) throws -> Bool {
        do {
            _ = try db.makeStatement(sql: "SELECT rowid FROM \(name)")
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return false
        }
    }

    /// Whether the table exists, with or without the column that a table of Bodega 2 lacks.
    ///
    /// - Throws: ``StorageError/Code/cannotOpen`` if the table belongs to another program.
    func exists(in db: Database) throws -> Bool {
        try condition(in: db) != .missing
    }

    /// Whether the table exists with all its columns.
    ///
    /// - Throws: ``StorageError/Code/cannotOpen`` if the table belongs to another program.
    func isComplete(in db: Database) throws -> Bool {
        try condition(in: db) == .complete
    }

    /// The text after `CREATE TABLE`, as SQLite keeps it.
    ///
    /// The dates have defaults for Bodega 2, which omits `createdAt`. This package sets all columns. The value comes
    /// last, so that the other columns of a large row are read without it, and that it can be written in parts.
    private var definition: String {
        """
        \(name) (
            key TEXT PRIMARY KEY NOT NULL,
            createdAt \(Self.dateWithDefault),
            updatedAt \(Self.dateWithDefault),
            kind INTEGER,
            value BLOB NOT NULL
        )
        """
    }

    private static let dateWithDefault = "TEXT NOT NULL DEFAULT (\(SQLiteDate.now))"

    /// The columns of a table of Bodega 2.
    static let referenceColumns: Set = ["key", "value", "createdAt", "updatedAt"]
}
