import CSQLiteConfiguration
import GRDB

/// Writes a collection's log in the place of its triggers, which cost a large batch about as much as its items do.
///
/// SQLite can do without triggers on one connection. Ours does so only for the time of one batch, inside of a transaction,
/// if the triggers' rows are all that they would come to; see ``SQLiteChangeLog/isKeptAlone(in:)``. Nothing of that is
/// remembered, so nobody has to find out that it is not true any more, and whatever else writes runs them.
final class SQLiteLogWriter {

    /// From how many rows on it is worth it. To find out whether it can be, and to prepare the statements anew that the
    /// connection has, took as long as the triggers for 60 rows, measured in SQLite alone.
    static let leastCount = 200

    private let table: SQLiteTable
    private let db: Database
    private let write: SQLiteStatement
    private var boundKind: Int?
    private var untrimmedCount = 0

    private init(_ table: SQLiteTable, in db: Database) throws {
        self.table = table
        self.db = db
        let sql = "INSERT INTO \(Self.columns(of: table)) VALUES (random(), \(SQLiteChangeLog.Change.written), ?1, ?2)"
        self.write = try SQLiteStatement(sql, in: db)
    }

    /// Changes a table inside of a transaction.
    ///
    /// - Parameters:
    ///   - count: About how many rows are changed.
    ///   - work: Changes the table. If it is given a writer, it must tell that of each change.
    static func replacingTriggers(
        of table: SQLiteTable,
        ifWorthFor count: Int,
        in db: Database,
        _ work: (SQLiteLogWriter?) throws -> Void
    ) throws {
        guard count >= leastCount, let connection = db.sqliteConnection, try table.log.isKeptAlone(in: db) else {
            return try work(nil)
        }
        let areOff = emporium_sqlite_run_triggers(connection, 0) == 0
        let result = Result {
            guard areOff else { return }
            let writer = try SQLiteLogWriter(table, in: db)
            try work(writer)
            try writer.trim()
        }
        guard emporium_sqlite_run_triggers(connection, 1) == 1 else {
            throw StorageError(.cannotOpen, "SQLite does not run triggers on this connection any more.")
        }
        try result.get()
        if !areOff { try work(nil) }
    }

    /// Logs that an item was written.
    ///
    /// - Parameters:
    ///   - text: The row's `key`.
    ///   - kind: The row's `kind`.
    func addWrite(of text: String, kind: Int) throws {
        if boundKind != kind {
            try write.bind(kind, at: 2)
            boundKind = kind
        }
        try write.bind(text, at: 1) {
            defer { write.reset() }
            _ = try write.step()
        }
        try trimIfMuch(1)
    }

    /// Logs that the item was written that stands under a text.
    func addWrite(at text: String) throws {
        try add(SQLiteChangeLog.Change.written, at: text, where: "1")
    }

    /// Logs that an item is about to be removed, if there is one.
    ///
    /// - Parameters:
    ///   - text: The row's `key`.
    ///   - condition: What else must be true of the row, in SQL.
    func addRemoval(of text: String, where condition: String) throws {
        try add(SQLiteChangeLog.Change.removed, at: text, where: condition)
    }

    private func add(_ change: Int, at text: String, where condition: String) throws {
        let sql = """
            INSERT INTO \(Self.columns(of: table)) SELECT random(), \(change), key, kind FROM \(table.name)
            WHERE key = ?1 AND (\(condition))
            """
        let statement = try SQLiteStatement(sql, in: db)
        try statement.bind(text, at: 1) {
            defer { statement.reset() }
            _ = try statement.step()
        }
        try trimIfMuch(1)
    }

    /// Logs that all items are about to be removed; if there are more than the log keeps, then the last ones.
    func addRemovalOfAll() throws {
        let sql = """
            INSERT INTO \(Self.columns(of: table)) SELECT random(), \(SQLiteChangeLog.Change.removed), key, kind
            FROM \(table.name) ORDER BY rowid
            LIMIT -1 OFFSET (SELECT max(0, count(*) - \(SQLiteChangeLog.limit)) FROM \(table.name))
            """
        try db.execute(sql: sql)
        try trim()
    }

    private static func columns(of table: SQLiteTable) -> String {
        "main.\(table.log.name) (nonce, change, key, kind)"
    }

    private func trimIfMuch(_ count: Int) throws {
        untrimmedCount += count
        if untrimmedCount >= 1000 { try trim() }
    }

    /// Removes what has become too old.
    private func trim() throws {
        untrimmedCount = 0
        let log = "main.\(table.log.name)"
        let limit = SQLiteChangeLog.limit
        let statement = try SQLiteStatement(
            "DELETE FROM \(log) WHERE number <= (SELECT max(number) FROM \(log)) - \(limit)",
            in: db
        )
        defer { statement.reset() }
        _ = try statement.step()
    }
}
