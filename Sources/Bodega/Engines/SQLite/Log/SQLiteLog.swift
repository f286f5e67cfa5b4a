import Foundation
import GRDB

/// The log of a collection's changes: a table beside the collection's own, which triggers write.
///
/// So the log contains what any program writes, including programs that don't know this package. SQLite's triggers also
/// bound it: each one removes the rows that have become too old.
///
/// A row is a change. Its number is greater by one than that of the row before, and is never reused, because the last
/// row is never removed. Its nonce is random. The first row, number 0, marks the beginning. A position in the log is a
/// row: if the log contains a row with the number and the nonce of a cursor, it is the log that the cursor was read
/// from, and it still reaches back to the cursor.
///
/// Triggers don't know the origin of a change. A transaction of this package adds it to the rows that the triggers have
/// written; see ``SQLiteLog.Registry``. The rows of other programs have none.
///
/// `REPLACE` removes conflicting rows without running triggers, unless a connection enables `recursive_triggers`. So a
/// trigger notes those rows under negative numbers before the statement runs, and another one logs those that are gone
/// after it. If the statement yields instead, its note is removed before the next note is made.
final class SQLiteLog: Sendable {

    /// The number of changes that a log keeps.
    static let limit = 100_000

    /// The values of the `change` column.
    enum Change {
        static let removed = 0
        static let written = 1
        static let begun = 2
        static let endangered = 3
    }

    /// The prefix of the names of all logs.
    static let prefix = "emporium_changes_"

    /// The name of the collection's table, quoted and unquoted.
    let (table, plainTable): (String, String)

    /// The log's name, quoted.
    let name: String

    /// The log's name, unquoted.
    let plainName: String

    /// The statements that run often.
    let (endQuery, nonceQuery, othersQuery, originUpdate, sharing): (String, String, String, String, String)

    /// The definitions of the triggers, once they were compared.
    private let knownDefinitions = Locked<Set<String>?>(nil)

    /// - Parameters:
    ///   - plainTable: The name of the collection's table, unquoted.
    ///   - short: The same, shortened, for the names of the log's parts.
    ///   - table: The same, quoted.
    init(ofTable plainTable: String, short: String, quoted table: String) {
        self.table = table
        self.plainTable = plainTable
        plainName = Self.prefix + short
        name = "\"\(plainName)\""
        endQuery = "SELECT number, nonce FROM main.\(name) WHERE number >= 0 ORDER BY number DESC LIMIT 1"
        nonceQuery = "SELECT nonce FROM main.\(name) WHERE number = ?1"
        othersQuery = "SELECT 1 FROM main.\(name) WHERE number > ?1 AND origin IS NOT ?2 AND origin IS NOT ?3 LIMIT 1"
        // Batches without triggers have written the origin already.
        sharing = "UPDATE main.\(name) SET origin = ?1 WHERE number > ?2 AND origin IS ?3"
        originUpdate = "UPDATE main.\(name) SET origin = ?1 WHERE number > ?2 AND origin IS NOT ?1"
    }

    /// Whether the log exists with everything that writes it. It depends on the schema alone.
    func isComplete(in db: Database) throws -> Bool {
        try hasTable(in: db) && !Self.complete([self], in: db).isEmpty
    }

    /// Whether there is a table of the log's name. This takes constant time, unlike the rest, which only files with
    /// logs need.
    func hasTable(in db: Database) throws -> Bool { try db.columnNames(of: name).contains("origin") }

    /// The names of those of some logs that exist with everything that writes them, in one pass over the schema.
    ///
    /// A log must be newer than its table: a program that recreates the table, as SQLite advises for changes that
    /// `ALTER TABLE` doesn't support, may restore the triggers, but not the changes made in the meantime. Compacting
    /// and copying a file keep the order.
    static func complete(_ logs: [SQLiteLog], in db: Database) throws -> Set<String> {
        var logsByTable: [String: SQLiteLog] = [:]
        for log in logs { (logsByTable[log.plainTable], logsByTable[log.plainName]) = (log, log) }
        let statement = try SQLiteStatement(
            """
            SELECT tbl_name, type, name, rowid, CASE type WHEN 'trigger' THEN sql END FROM main.sqlite_master
            WHERE tbl_name IN (SELECT value FROM json_each(?1))
            """, in: db)
        defer { statement.reset() }
        let names = try JSONEncoder().encode(Array(logsByTable.keys))
        try statement.bindCopy(of: String(decoding: names, as: UTF8.self), at: 1)
        var rows: [String: Int] = [:]
        var found: [String: Set<String>] = [:]
        while try statement.step() {
            guard let log = logsByTable[statement.text(at: 0)] else { continue }
            let name = statement.text(at: 2)
            switch statement.text(at: 1) {
            case "table": rows[name] = statement.integer(at: 3)
            case "trigger" where name.hasPrefix(log.plainName + "_"):
                found[log.plainName, default: []].insert(statement.text(at: 4))
            default: break
            }
        }
        let complete = logs.filter { log in
            guard let row = rows[log.plainName], let items = rows[log.plainTable], row > items else { return false }
            return log.definitions == found[log.plainName]
        }
        return Set(complete.map(\.plainName))
    }

    /// Whether the collection's table has triggers, such as those of a log that another program has removed in part.
    /// They would make writes fail.
    func hasRemains(in db: Database) throws -> Bool {
        let statement = try SQLiteStatement(
            """
            SELECT 1 FROM main.sqlite_master
            WHERE type = 'trigger' AND tbl_name = ?1 AND name NOT GLOB 'emporium_search_*' LIMIT 1
            """, in: db)
        defer { statement.reset() }
        try statement.bindCopy(of: plainTable, at: 1)
        return try statement.step()
    }

    /// Whether the log is complete, and the only effect of a change to the collection's table, so that it is known in
    /// advance what the triggers will write.
    ///
    /// Other triggers would have other effects. With foreign keys, SQLite itself may change a table when another one
    /// changes. In another program's table, keys may compare differently, or a row may replace another.
    func isOnlyEffect(in db: Database) throws -> Bool {
        guard try isComplete(in: db), try end(in: db) != nil else { return false }
        let isOnly = try Bool.fetchOne(
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
        return isOnly == true
    }

    /// Creates the log inside of a transaction, replacing one that is not complete. It does not know earlier cursors.
    ///
    /// - Parameters:
    ///   - start: The first row, `nil` for one with another nonce than any row before.
    ///   - db: The connection.
    func begin(from start: SQLiteLog.Row? = nil, in db: Database) throws {
        try remove(in: db)
        // The triggers rely on row ids, and must never make another program's statements fail.
        _ = try db.makeStatement(sql: "SELECT rowid, key, kind FROM main.\(table)")
        try db.execute(
            sql: """
                CREATE TABLE main.\(name) (
                    number INTEGER PRIMARY KEY, nonce INTEGER NOT NULL, change INTEGER NOT NULL, key TEXT, kind INTEGER,
                    origin BLOB
                )
                """
        )
        let nonce = start.map { "\($0.nonce)" } ?? "random()"
        try db.execute(sql: "INSERT INTO main.\(name) VALUES (0, \(nonce), \(Change.begun), NULL, NULL, NULL)")
        for trigger in triggers { try trigger.create(in: db) }
    }

    /// Removes the log and its triggers, inside of a transaction.
    func remove(in db: Database) throws {
        for trigger in triggers { try trigger.remove(in: db) }
        try db.execute(sql: "DROP TABLE IF EXISTS main.\(name)")
    }
}

extension SQLiteLog {

    private var definitions: Set<String> {
        knownDefinitions.withLock { known in
            if let known { return known }
            let definitions = Set(triggers.map(\.definition))
            known = definitions
            return definitions
        }
    }

    private var triggers: [SQLiteTrigger] {
        func trigger(_ name: String, _ event: String, when condition: String? = nil, _ statements: [String])
            -> SQLiteTrigger
        {
            SQLiteTrigger("\"\(plainName)_\(name)\"", event, on: table, when: condition, statements)
        }
        // Rows that are too old are found by their number alone, which is one descent of the table's tree.
        let trim = "DELETE FROM \(name) WHERE number <= last_insert_rowid() - \(Self.limit)"
        let written = adding(Change.written, of: "NEW")
        let removed = adding(Change.removed, of: "OLD")
        // An update that turns a row into another item: another program has changed the key, or this package has added
        // the kind to a row of Bodega 2.
        let isAnother = "NEW.key IS NOT OLD.key OR ifnull(NEW.kind, 0) <> ifnull(OLD.kind, 0)"
        let isNoMove = "NEW.key IS OLD.key OR NEW.key NOT IN (\(SQLiteKey.detours(of: "OLD.key")))"
        // Only updates of these columns can replace a row, so the triggers don't slow down other updates.
        let moving = "UPDATE OF key, rowid, _rowid_, oid"
        // Before an insertion that doesn't choose a row id, the row id is -1.
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

    /// SQL for whether there are notes of rows that a statement may replace.
    private var isNoted: String { "EXISTS (SELECT 1 FROM \(name) WHERE number < 0)" }

    private var forgetting: String { "DELETE FROM \(name) WHERE number < 0" }

    /// SQL that notes the items with which a new row conflicts. Instead of a nonce, a note has the end of the log.
    ///
    /// - Parameters:
    ///   - condition: SQL for when a row can conflict by its id.
    ///   - others: SQL for the rows that can conflict at all.
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
            INSERT INTO \(name) (number, nonce, change, key, kind) \
            SELECT \(number), (SELECT max(number) FROM \(name)), \(Change.endangered), key, kind \
            FROM \(table) WHERE \(conflict)
            """
        }
        return (exist.joined(separator: " OR "), [forgetting] + notes)
    }

    /// SQL that logs the noted items that are gone, unless another trigger has logged them.
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
