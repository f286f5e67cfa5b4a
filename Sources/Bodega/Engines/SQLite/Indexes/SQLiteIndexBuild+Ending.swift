import Foundation
import GRDB

extension SQLiteIndexBuild {

    /// Makes `keys` the index of the items' table, inside of a transaction in which no row remains in `changed`.
    ///
    /// - Throws: `Database.SchemaIsProtected` if SQLite has to create the index.
    func finish(in db: Database) throws {
        guard try isOnlyUniqueByKey(in: db) else { throw Database.SchemaIsProtected() }
        try db.executeDirectly("DROP INDEX IF EXISTS main.\(index.name)")
        try db.changeSchema(
            """
            UPDATE main.sqlite_master SET name = \(literal(index.name)), tbl_name = \(literal(table.name)),
            sql = '\(index.definition.doublingApostrophes)'
            WHERE type = 'index' AND name = \(literal(names.keys))
            """
        ) {
            try end(in: db)
            let isThere = try db.valueDirectly(
                of: "SELECT count(*) FROM pragma_index_list(\(literal(table.name)), 'main') WHERE name = "
                    + literal(index.name))
            guard isThere == "1" else { throw Database.SchemaIsProtected() }
        }
        db.clearSchemaCache()
    }

    /// Removes everything but `rows`, inside of a transaction. Writers do nothing more for the creation.
    func end(in db: Database) throws {
        for trigger in triggers { try trigger.remove(in: db) }
        for name in [names.changed, names.state] { try db.executeDirectly("DROP TABLE IF EXISTS main.\(name)") }
    }

    /// Removes some of what remains after the end, inside of a transaction. Freeing many pages takes time.
    ///
    /// - Returns: Whether nothing remains.
    func removeRows(count: Int, in db: Database) throws -> Bool {
        try db.executeDirectly("DROP INDEX IF EXISTS main.\(names.keys)")
        guard try hasTable(names.rows, in: db) else { return true }
        let last = try SQLiteStatement.integer(
            "SELECT id FROM main.\(names.rows) ORDER BY id LIMIT 1 OFFSET \(count)", in: db)
        guard let last else {
            try db.executeDirectly("DROP TABLE main.\(names.rows)")
            return true
        }
        try db.executeDirectly("DELETE FROM main.\(names.rows) WHERE id < \(last)")
        return false
    }

    /// Whether there are any of its tables.
    func exists(in db: Database) throws -> Bool {
        try hasTable(names.rows, in: db) || hasTable(names.state, in: db)
    }

    /// Removes what remains of all creations for a table that is about to be removed, inside of a transaction.
    static func removeAll(of table: SQLiteTable, in db: Database) throws {
        for part in ["rows", "changed", "state"] {
            let start = "\(prefix)\(part):\(table.plainName):"
            let statement = try SQLiteStatement(
                "SELECT name FROM main.sqlite_master WHERE type = 'table' AND substr(name, 1, length(?1)) = ?1", in: db)
            var names: [String] = []
            try statement.bind(start, at: 1) {
                defer { statement.reset() }
                while try statement.step() { names.append(statement.text(at: 0)) }
            }
            for name in names {
                try db.executeDirectly("DROP TABLE main.\"\(name.replacingOccurrences(of: "\"", with: "\"\""))\"")
            }
        }
    }

    // MARK: Triggers

    var triggers: [SQLiteTrigger] {
        func trigger(_ name: String, _ event: String, _ rows: [String]) -> SQLiteTrigger {
            let notes = rows.map { row in
                "INSERT INTO \(names.changed) SELECT \(row) NOT IN (SELECT id FROM \(names.changed))"
            }
            return SQLiteTrigger(names.quoted(name), event, on: table.name, notes)
        }
        let (new, old) = ("NEW.rowid WHERE NEW.rowid", "OLD.rowid WHERE OLD.rowid")
        let replaced = "rowid FROM \(table.name) WHERE key = NEW.key AND rowid"
        return [
            trigger("inserted", "AFTER INSERT", [new]),
            trigger("updated", "AFTER UPDATE", [old, new]),
            trigger("deleted", "AFTER DELETE", [old]),
            trigger("inserting", "BEFORE INSERT", [replaced]),
            trigger("updating", "BEFORE UPDATE OF key", [replaced]),
        ]
    }

    /// Whether all that notes changes is there.
    func hasTriggers(in db: Database) throws -> Bool {
        let statement = try SQLiteStatement(
            "SELECT sql FROM main.sqlite_master WHERE type = 'trigger' AND tbl_name = ?1", in: db)
        defer { statement.reset() }
        try statement.bindCopy(of: table.plainName, at: 1)
        var missing = Set(triggers.map(\.definition))
        while try statement.step() { missing.remove(statement.text(at: 0)) }
        return missing.isEmpty
    }

    /// Whether a statement that replaces rows replaces those with its key or its row number only, which are noted.
    func isOnlyUniqueByKey(in db: Database) throws -> Bool {
        let count = try db.valueDirectly(
            of: "SELECT count(*) FROM pragma_index_list(\(literal(table.name)), 'main') WHERE \"unique\" = 1")
        return count == "1"
    }
}
