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
///
/// `REPLACE` removes the rows in its way without a word, unless a connection asks for `recursive_triggers`. So a trigger
/// notes those in rows of negative numbers before the statement does its work, and another one logs those that are really
/// gone after it. A note that nothing comes of, because the statement gave way instead, is removed before the next one.
final class SQLiteChangeLog: Sendable {

    /// How many changes are kept.
    static let limit = 100_000

    /// What is in the `change` column.
    enum Change {
        static let removed = 0
        static let written = 1
        static let begun = 2
        static let endangered = 3
    }

    /// What the names of all logs begin with.
    static let prefix = "emporium_changes_"

    /// The names of the collection's table, quoted and as it is.
    private let (table, plainTable): (String, String)

    /// The log's name, quoted.
    let name: String

    /// The log's name as it is.
    let plainName: String

    /// The statements that are run all the time.
    let (endQuery, nonceQuery): (String, String)

    /// - Parameters:
    ///   - plainTable: The name of the collection's table as it is.
    ///   - table: The same, quoted.
    init(ofTable plainTable: String, quoted table: String) {
        self.table = table
        self.plainTable = plainTable
        let collection = "emporium_collection_"
        let short = plainTable.hasPrefix(collection) ? String(plainTable.dropFirst(collection.count)) : plainTable
        plainName = Self.prefix + short
        name = "\"\(plainName)\""
        endQuery = "SELECT number, nonce FROM main.\(name) WHERE number >= 0 ORDER BY number DESC LIMIT 1"
        nonceQuery = "SELECT nonce FROM main.\(name) WHERE number = ?1"
    }

    /// Whether the log is there, with all that writes it, in the form that this version gives it.
    ///
    /// It must have been made after its table: a program that has made the table anew, as SQLite advises for changes that
    /// `ALTER TABLE` can't do, may have put the triggers back, but not what they would have told meanwhile. Compacting and
    /// copying keep the order.
    func isKept(in db: Database) throws -> Bool {
        let isThere = try Bool.fetchOne(
            db,
            sql: """
                SELECT log.rowid > items.rowid FROM main.sqlite_master AS log, main.sqlite_master AS items
                WHERE log.type = 'table' AND log.name = ? AND items.type = 'table' AND items.name = ?
                """,
            arguments: [plainName, plainTable]
        )
        guard isThere == true else { return false }
        let found = try String.fetchAll(
            db,
            sql: """
                SELECT sql FROM main.sqlite_master
                WHERE type = 'trigger' AND tbl_name = ? AND substr(name, 1, length(?2)) = ?2
                """,
            arguments: [plainTable, plainName + "_"]
        )
        return try Set(found) == Set(triggers.map { "CREATE TRIGGER " + $0.definition }) && end(in: db) != nil
    }

    /// Whether the log is kept, and is all that comes of a change to the collection's table, so that it is known beforehand
    /// what the triggers will write.
    ///
    /// Other triggers would do more. Where a table refers to another, SQLite itself may change one when the other changes.
    /// In a table that another program has made, keys may be equal in another way, or one row may give way to the next.
    func isKeptAlone(in db: Database) throws -> Bool {
        guard try isKept(in: db) else { return false }
        let isAlone = try Bool.fetchOne(
            db,
            sql: """
                SELECT (
                    SELECT count(*) FROM main.sqlite_master
                    WHERE type = 'trigger' AND tbl_name COLLATE NOCASE IN (?1, ?2)
                ) = ?3 AND NOT EXISTS (
                    SELECT 1 FROM main.sqlite_master
                    WHERE type = 'table' AND (
                        sql LIKE '%REFERENCES%' OR name = ?1 AND (sql LIKE '%COLLATE%' OR sql LIKE '%CONFLICT%')
                    )
                ) AND EXISTS (SELECT 1 FROM pragma_table_info(?1, 'main') WHERE name = 'key' AND type = 'TEXT')
                """,
            arguments: [plainTable, plainName, triggers.count]
        )
        return isAlone == true
    }

    /// Begins the log, anew if it is not whole, inside of a transaction. Cursors of before are unknown to it.
    func begin(in db: Database) throws {
        try remove(in: db)
        // The triggers rely on row ids, and must never make another program's statements fail.
        _ = try db.makeStatement(sql: "SELECT rowid, key, kind FROM main.\(table)")
        try db.execute(
            sql: """
                CREATE TABLE main.\(name) (
                    number INTEGER PRIMARY KEY, nonce INTEGER NOT NULL, change INTEGER NOT NULL, key TEXT, kind INTEGER
                )
                """
        )
        try db.execute(sql: "INSERT INTO main.\(name) VALUES (0, random(), \(Change.begun), NULL, NULL)")
        for trigger in triggers { try db.execute(sql: "CREATE TRIGGER main." + trigger.definition) }
    }

    /// Removes the log and all that writes it, inside of a transaction.
    func remove(in db: Database) throws {
        for trigger in triggers { try db.execute(sql: "DROP TRIGGER IF EXISTS main.\"\(trigger.name)\"") }
        try db.execute(sql: "DROP TABLE IF EXISTS main.\(name)")
    }
}

extension SQLiteChangeLog {

    private struct Trigger {
        let name: String
        /// What stands behind `CREATE TRIGGER`, as SQLite keeps it.
        let definition: String

        init(_ name: String, _ event: String, on table: String, when condition: String? = nil, _ statements: [String]) {
            self.name = name
            let condition = condition.map { "WHEN \($0) " } ?? ""
            let body = statements.map { $0 + "; " }.joined()
            definition = "\"\(name)\" \(event) ON \(table) \(condition)BEGIN \(body)END"
        }
    }

    private var triggers: [Trigger] {
        func trigger(_ name: String, _ event: String, when condition: String? = nil, _ statements: [String]) -> Trigger
        {
            Trigger("\(plainName)_\(name)", event, on: table, when: condition, statements)
        }
        // What has become too old is looked for by its number alone, which is a step down the table's tree.
        let trim = "DELETE FROM \(name) WHERE number <= last_insert_rowid() - \(Self.limit)"
        let written = adding(Change.written, of: "NEW")
        let removed = adding(Change.removed, of: "OLD")
        // An update that makes another item of a row: a foreign program has changed the key, or we have given a row of
        // Bodega its kind.
        let isAnother = "NEW.key IS NOT OLD.key OR ifnull(NEW.kind, 0) <> ifnull(OLD.kind, 0)"
        let isNoMove = "NEW.key IS OLD.key OR NEW.key NOT IN (\(SQLiteKey.detours(of: "OLD.key")))"
        // Only these can replace a row, so the triggers cost updates of anything else nothing.
        let moving = "UPDATE OF key, rowid, _rowid_, oid"
        // Before an insertion that doesn't choose a row id, SQLite says it is -1.
        let inserting = noting(condition: "NEW.rowid <> -1 AND ")
        let updating = noting(excluding: " AND rowid <> OLD.rowid")
        return [
            trigger("inserted", "AFTER INSERT", [written, trim]),
            trigger("updated", "AFTER UPDATE", when: isNoMove, ["\(removed) WHERE \(isAnother)", written, trim]),
            trigger("deleted", "AFTER DELETE", [removed, trim]),
            trigger("inserting", "BEFORE INSERT", when: inserting.condition, inserting.statements),
            trigger("updating", "BEFORE \(moving)", when: updating.condition, updating.statements),
            trigger("insert_replaced", "AFTER INSERT", when: isNoted, replaced),
            trigger("update_replaced", "AFTER \(moving)", when: isNoted, replaced),
        ]
    }

    private func adding(_ change: Int, of row: String) -> String {
        "INSERT INTO \(name) (nonce, change, key, kind) SELECT random(), \(change), \(row).key, \(row).kind"
    }

    /// SQL for whether there are notes of rows that may be about to be replaced.
    private var isNoted: String { "EXISTS (SELECT 1 FROM \(name) WHERE number < 0)" }

    private var forgetting: String { "DELETE FROM \(name) WHERE number < 0" }

    /// Notes the items that the row to come has in its way. Instead of a nonce, a note has the end of the log.
    ///
    /// - Parameters:
    ///   - condition: SQL for when a row can be in its way by its id.
    ///   - others: SQL for what can be in its way at all.
    private func noting(
        condition: String = "",
        excluding others: String = ""
    ) -> (condition: String, statements: [String]) {
        let byKey = "key = NEW.key AND ifnull(kind, 0) <> ifnull(NEW.kind, 0)\(others)"
        let byID = "rowid = NEW.rowid AND key IS NOT NEW.key\(others)"
        let exist = [
            "EXISTS (SELECT 1 FROM \(table) WHERE \(byKey))",
            "(\(condition)EXISTS (SELECT 1 FROM \(table) WHERE \(byID)))", isNoted,
        ]
        let notes = [(-1, byKey), (-2, byID)].map { number, conflict in
            """
            INSERT INTO \(name) SELECT \(number), (SELECT max(number) FROM \(name)), \(Change.endangered), key, kind \
            FROM \(table) WHERE \(conflict)
            """
        }
        return (exist.joined(separator: " OR "), [forgetting] + notes)
    }

    /// Logs what was noted and is gone, unless another trigger has logged that.
    private var replaced: [String] {
        let isThere = "key = noted.key AND ifnull(kind, 0) = ifnull(noted.kind, 0)"
        let isLogged = """
            number > noted.nonce AND change = \(Change.removed) AND key IS noted.key AND kind IS noted.kind
            """
        let logging = """
            \(adding(Change.removed, of: "noted")) FROM \(name) AS noted WHERE number < 0 \
            AND NOT EXISTS (SELECT 1 FROM \(table) WHERE \(isThere)) \
            AND NOT EXISTS (SELECT 1 FROM \(name) WHERE \(isLogged))
            """
        return [logging, forgetting]
    }
}
