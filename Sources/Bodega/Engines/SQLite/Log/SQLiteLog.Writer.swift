import CSQLiteConfiguration
import GRDB

extension SQLiteLog {
    /// Writes a collection's log instead of its triggers, which cost a large batch about as much as its items do.
    ///
    /// SQLite can disable triggers on one connection. This package does so only during one batch, inside of a
    /// transaction, if the triggers would have no other effect than their rows; see ``SQLiteLog/isOnlyEffect(in:)``.
    /// That is checked for each batch and not cached, so it cannot become stale. All other writes run the triggers.
    final class Writer {

        /// The minimum number of rows for bypassing triggers. To check whether that is possible, and to prepare the
        /// connection's statements again, took as long as the triggers for 60 rows, measured in SQLite alone.
        static let leastCount = 200

        private let log: SQLiteLog
        private let origin: StorageOrigin?
        private let db: Database
        private let write: SQLiteStatement
        private var boundKind: Int?
        private var untrimmedCount = 0

        private init(_ log: SQLiteLog, _ origin: StorageOrigin?, in db: Database) throws {
            self.log = log
            self.origin = origin
            self.db = db
            let values = "random(), \(SQLiteLog.Change.written), ?1, ?2, ?3"
            self.write = try SQLiteStatement("INSERT INTO \(Self.columns(of: log)) VALUES (\(values))", in: db)
            try write.bindCopy(of: origin, at: 3)
        }

        /// Changes a collection's table inside of a transaction.
        ///
        /// - Parameters:
        ///   - log: The collection's log.
        ///   - count: The approximate number of rows that are changed.
        ///   - origin: The origin of the changes.
        ///   - work: Changes the table. If it gets a writer, it must report each change to the writer.
        static func replacingTriggers(
            of log: SQLiteLog,
            ifWorthFor count: Int,
            origin: StorageOrigin?,
            in db: Database,
            _ work: (SQLiteLog.Writer?) throws -> Void
        ) throws {
            guard count >= leastCount, let connection = db.sqliteConnection, try log.isOnlyEffect(in: db) else {
                return try work(nil)
            }
            let areOff = emporium_sqlite_run_triggers(connection, 0) == 0
            let result = Result {
                guard areOff else { return }
                let writer = try SQLiteLog.Writer(log, origin, in: db)
                try work(writer)
                try writer.trim()
            }
            guard emporium_sqlite_run_triggers(connection, 1) == 1 else {
                throw StorageError(
                    .cannotOpen, "SQLite no longer runs triggers on this connection. Open the file again.")
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

        /// Logs that the item in a row was written.
        ///
        /// - Parameter text: The row's `key`.
        func addWrite(at text: String) throws {
            try add(SQLiteLog.Change.written, at: text, where: "1")
        }

        /// Logs that an item is about to be removed, if it exists.
        ///
        /// - Parameters:
        ///   - text: The row's `key`.
        ///   - condition: A further condition for the row, in SQL.
        func addRemoval(of text: String, where condition: String) throws {
            try add(SQLiteLog.Change.removed, at: text, where: condition)
        }

        private func add(_ change: Int, at text: String, where condition: String) throws {
            let sql = """
                INSERT INTO \(Self.columns(of: log)) SELECT random(), \(change), key, kind, ?2 FROM \(log.table)
                WHERE key = ?1 AND (\(condition))
                """
            let statement = try SQLiteStatement(sql, in: db)
            try statement.bindCopy(of: origin, at: 2)
            try statement.bind(text, at: 1) {
                defer { statement.reset() }
                _ = try statement.step()
            }
            try trimIfMuch(1)
        }

        /// Logs that all items are about to be removed; if there are more than the log keeps, only the last ones.
        func addRemovalOfAll() throws {
            let sql = """
                INSERT INTO \(Self.columns(of: log)) SELECT random(), \(SQLiteLog.Change.removed), key, kind, ?1
                FROM \(log.table) ORDER BY rowid
                LIMIT -1 OFFSET (SELECT max(0, count(*) - \(SQLiteLog.limit)) FROM \(log.table))
                """
            let statement = try SQLiteStatement(sql, in: db)
            defer { statement.reset() }
            try statement.bindCopy(of: origin, at: 1)
            _ = try statement.step()
            try trim()
        }

        private static func columns(of log: SQLiteLog) -> String {
            "main.\(log.name) (nonce, change, key, kind, origin)"
        }

        private func trimIfMuch(_ count: Int) throws {
            untrimmedCount += count
            if untrimmedCount >= 1000 { try trim() }
        }

        /// Removes rows that are too old.
        private func trim() throws {
            untrimmedCount = 0
            let name = "main.\(log.name)"
            let statement = try SQLiteStatement(
                "DELETE FROM \(name) WHERE number <= (SELECT max(number) FROM \(name)) - \(SQLiteLog.limit)",
                in: db
            )
            defer { statement.reset() }
            _ = try statement.step()
        }
    }
}
