import GRDB

/// The log of a collection's changes: a table beside the collection's own, which triggers write.
///
/// So it has what any program writes, whether that knows of us or not. Triggers of SQLite also keep it bounded: each
/// removes what has become too old.
///
/// A row is a change. Its number is greater by one than that of the row before, and is never given again, because the last
/// row is never removed. Its nonce is random. The first row, of number 0, stands for the beginning. A place in the history is
/// a row: if there is a row with the number and the nonce of a cursor, then it is the same history, and it still reaches
/// back to the cursor.
struct SQLiteChangeLog: Sendable {

    /// How many changes are kept.
    static let limit = 100_000

    /// What is in the `change` column.
    enum Change {
        static let removed = 0
        static let written = 1
        static let begun = 2
    }

    /// What the names of all logs begin with.
    static let prefix = "emporium_changes_"

    private let table: SQLiteTable

    /// The log's name, quoted.
    let name: String

    /// The log's name as it is.
    let plainName: String

    init(of table: SQLiteTable) {
        self.table = table
        let collection = "emporium_collection_"
        let short =
            table.plainName.hasPrefix(collection)
            ? String(table.plainName.dropFirst(collection.count)) : table.plainName
        plainName = Self.prefix + short
        name = "\"\(plainName)\""
    }

    private var triggers: [String] { ["inserted", "updated", "deleted"].map { "\(plainName)_\($0)" } }

    /// Whether the log is there, with all that writes it.
    func isKept(in db: Database) throws -> Bool {
        let found = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM main.sqlite_master
                WHERE (type = 'trigger' AND tbl_name = ? AND name IN (?, ?, ?)) OR (type = 'table' AND name = ?)
                """,
            arguments: StatementArguments([table.plainName] + triggers + [plainName])
        )
        return try found == 4 && end(in: db) != nil
    }

    /// Begins the log, anew if it is not whole, inside of a transaction. Cursors of before are unknown to it.
    ///
    /// What has become too old is looked for by its number alone, which is a step down the table's tree.
    func begin(in db: Database) throws {
        for trigger in triggers { try db.execute(sql: "DROP TRIGGER IF EXISTS main.\"\(trigger)\"") }
        try db.execute(sql: "DROP TABLE IF EXISTS main.\(name)")
        try db.execute(
            sql: """
                CREATE TABLE main.\(name) (
                    number INTEGER PRIMARY KEY, nonce INTEGER NOT NULL, change INTEGER NOT NULL, key TEXT, kind INTEGER
                )
                """
        )
        try db.execute(sql: "INSERT INTO main.\(name) VALUES (0, random(), \(Change.begun), NULL, NULL)")
        let trim = "DELETE FROM \(name) WHERE number <= last_insert_rowid() - \(Self.limit);"
        let written = adding(Change.written, of: "NEW")
        let removed = adding(Change.removed, of: "OLD")
        try create(triggers[0], "INSERT", "\(written); \(trim)", in: db)
        // An update that makes another item of a row: a foreign program has changed the key, or we have given a row of
        // Bodega its kind.
        let isAnother = "NEW.key IS NOT OLD.key OR ifnull(NEW.kind, 0) <> ifnull(OLD.kind, 0)"
        try create(
            triggers[1], "UPDATE", when: "NEW.key IS OLD.key OR NEW.key NOT IN (\(SQLiteKey.detours(of: "OLD.key")))",
            "\(removed) WHERE \(isAnother); \(written); \(trim)", in: db)
        try create(triggers[2], "DELETE", "\(removed); \(trim)", in: db)
    }

    private func adding(_ change: Int, of row: String) -> String {
        "INSERT INTO \(name) (nonce, change, key, kind) SELECT random(), \(change), \(row).key, \(row).kind"
    }

    private func create(
        _ trigger: String,
        _ event: String,
        when condition: String? = nil,
        _ statements: String,
        in db: Database
    ) throws {
        let condition = condition.map { "WHEN \($0) " } ?? ""
        try db.execute(
            sql: """
                CREATE TRIGGER main."\(trigger)" AFTER \(event) ON \(table.name) \(condition)BEGIN \(statements) END
                """
        )
    }
}
