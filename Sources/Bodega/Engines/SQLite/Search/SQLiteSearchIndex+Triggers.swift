extension SQLiteSearchIndex {

    /// The triggers that note changed rows.
    var triggers: [SQLiteTrigger] {
        func trigger(_ suffix: String, _ event: String, when condition: String, _ statements: [String]) -> SQLiteTrigger
        {
            SQLiteTrigger("\(name)_\(suffix)", event, on: table.name, when: condition, statements)
        }
        // REPLACE removes rows without running triggers. Before an insertion that doesn't choose a row id, it is -1.
        let conflicts = "(key = NEW.key OR rowid = NEW.rowid)"
        let moving = "UPDATE OF key, rowid, _rowid_, oid"
        let isChanged = "(NEW.value IS NOT OLD.value OR NEW.rowid <> OLD.rowid)"
        return [
            trigger("inserted", "AFTER INSERT", when: "NEW.rowid <= \(built)", noting(new: "NEW.rowid")),
            trigger(
                "updated", "AFTER UPDATE", when: "(OLD.rowid <= \(built) OR NEW.rowid <= \(built)) AND \(isChanged)",
                noting(changed: "OLD") + noting(new: "NEW.rowid", where: "NEW.rowid <= \(built)")),
            trigger("deleted", "AFTER DELETE", when: "OLD.rowid <= \(built)", noting(changed: "OLD")),
            trigger(
                "inserting", "BEFORE INSERT",
                when: "EXISTS (SELECT 1 FROM \(table.name) WHERE \(conflicts) AND rowid <= \(built))",
                noting(changedWhere: conflicts)),
            trigger(
                "updating", "BEFORE \(moving)",
                when: "EXISTS (SELECT 1 FROM \(table.name) WHERE \(conflicts) AND rowid <= \(built))",
                noting(changedWhere: conflicts)),
        ]
    }

    /// SQL for the number up to which rows were added.
    private var built: String { "(SELECT built FROM \(Self.register) WHERE id = \(id))" }

    private func noting(new row: String, where condition: String = "1") -> [String] {
        [
            "UPDATE \(notes) SET state = \(State.new) WHERE row = \(row) AND state = \(State.irregular)",
            """
            INSERT INTO \(notes) (row, state) SELECT \(row), \(State.new) \
            WHERE \(condition) AND NOT EXISTS (SELECT 1 FROM \(notes) WHERE row = \(row))
            """,
        ]
    }

    private func noting(changed row: String) -> [String] {
        [
            "UPDATE \(notes) SET state = \(State.new) WHERE row = \(row).rowid AND state = \(State.irregular)",
            """
            INSERT INTO \(notes) SELECT \(row).rowid, \(State.changed), \(texts(of: row).joined(separator: ", ")) \
            WHERE \(row).rowid <= \(built) AND NOT EXISTS (SELECT 1 FROM \(notes) WHERE row = \(row).rowid)
            """,
        ]
    }

    private func noting(changedWhere condition: String) -> [String] {
        let rows = "SELECT rowid FROM \(table.name) WHERE \(condition) AND rowid <= \(built)"
        return [
            "UPDATE \(notes) SET state = \(State.new) WHERE state = \(State.irregular) AND row IN (\(rows))",
            """
            INSERT INTO \(notes) SELECT item.rowid, \(State.changed), \(texts(of: "item").joined(separator: ", ")) \
            FROM \(table.name) AS item WHERE item.rowid IN (\(rows)) \
            AND NOT EXISTS (SELECT 1 FROM \(notes) WHERE row = item.rowid)
            """,
        ]
    }
}
