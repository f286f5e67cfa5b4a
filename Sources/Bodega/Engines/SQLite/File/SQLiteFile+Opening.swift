import Foundation
import GRDB
import GRDBSQLite

extension SQLiteFile {

    /// Opens a file in WAL mode, and prepares the unnamed collection's table if that one is to be used; creates the
    /// file and its folder if they are missing.
    ///
    /// - Throws: A ``StorageError``. The file is then unchanged.
    static func openPool(
        at url: URL,
        _ durability: StorageDurability,
        _ lockTimeout: TimeInterval,
        _ inspection: Inspection
    ) throws -> SQLiteConnectionPool {
        try StorageError.checkLength(ofPath: url)
        try inspection.checkExistence(of: url)
        let (pool, standardTable): (SQLiteConnectionPool, SQLiteTable.Condition?)
        do {
            try closeFormerFiles(at: url.path)
            try FileSystem.createDirectory(at: url.deletingLastPathComponent())
            (pool, standardTable) = try openConnections(to: url, durability, lockTimeout, inspection)
        } catch {
            throw failure(error, toOpen: url)
        }
        do {
            if let standardTable { try prepareStandardTable(standardTable, of: url, lockTimeout, pool) }
        } catch {
            throw StorageError.sqlite(error, file: url)
        }
        return pool
    }

    /// Opens a file in WAL mode.
    ///
    /// SQLite does not wait when two programs change a new file to WAL mode simultaneously, so this retries.
    ///
    /// - Returns: The connections, and the state of the unnamed collection's table if that one is to be used.
    private static func openConnections(
        to url: URL,
        _ durability: StorageDurability,
        _ lockTimeout: TimeInterval,
        _ inspection: Inspection
    ) throws -> (SQLiteConnectionPool, standardTable: SQLiteTable.Condition?) {
        var configuration = Configuration()
        configuration.label = "emporium.bodega"
        // They are enabled together with other settings below.
        configuration.foreignKeysEnabled = false
        // A moment uses its connection several times within one transaction.
        configuration.allowsUnsafeTransactions = true
        let isFirst = Locked(true)
        let standardTable = Locked<SQLiteTable.Condition?>(nil)
        configuration.prepareDatabase { db in
            try db.addToLockHolders()
            db.setLockTimeout(lockTimeout)
            if db.configuration.readonly { return }
            // Before the file is read, which would create its WAL.
            if sqlite3_db_readonly(db.sqliteConnection, "main") == 1 {
                throw DatabaseError(resultCode: .SQLITE_READONLY)
            }
            #if canImport(Darwin)
            // Here fsync alone does not reach the disk.
            if durability == .full {
                try db.executeDirectly("PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1")
            }
            #endif
            var isNew = false
            if isFirst.withLock({ $0 }) {
                let found = try inspection.check(db)
                isNew = try found == .missing && isEmpty(db)
                standardTable.withLock { $0 = isNew ? .complete : found }
            }
            if isNew { try db.executeDirectly("PRAGMA synchronous = NORMAL") }
            guard try db.valueDirectly(of: "PRAGMA journal_mode = WAL") == "wal" else {
                throw StorageError(.cannotOpen, "The file can't have a write-ahead log.")
            }
            if isNew { try createStandardTable(in: db) }
            // The last one: where SQLite starts a large log over by itself.
            try db.executeDirectly(
                """
                PRAGMA foreign_keys = ON;
                PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL");
                PRAGMA journal_size_limit = \(SQLiteWALShrinker.limit)
                """
            )
            isFirst.withLock { $0 = false }
        }
        let pool = try DatabaseError.retryingWhileLocked(url.path, for: lockTimeout) {
            try SQLiteReadRegistry.openingToWrite(url.path) {
                try SQLiteConnectionPool(path: url.path, configuration: configuration)
            }
        }
        return (pool, standardTable.withLock { $0 })
    }

    /// Whether a file has just been created.
    private static func isEmpty(_ db: Database) throws -> Bool {
        try db.valueDirectly(of: "PRAGMA page_count") == "0"
    }

    /// Creates the unnamed collection's table in a new file, in WAL mode.
    ///
    /// This does not sync the file: the first durable commit, of any program, makes the table durable, too. If the
    /// system fails before that, the next opening finds an empty database and creates the table again. For the same
    /// reason one sync of the rollback journal suffices before: it restores an empty file.
    private static func createStandardTable(in db: Database) throws {
        try db.executeDirectly("PRAGMA synchronous = OFF")
        let result = Result {
            try db.transaction(.immediate) { try SQLiteTable.standard.create(in: db) }
        }
        // Also after an error: closing the connection may copy the WAL of other programs into the file.
        try db.executeDirectly("PRAGMA synchronous = FULL")
        try result.get()
    }

    /// Creates or completes the unnamed collection's table.
    ///
    /// - Parameter found: The state of the table when the file was opened.
    private static func prepareStandardTable(
        _ found: SQLiteTable.Condition,
        of url: URL,
        _ lockTimeout: TimeInterval,
        _ pool: SQLiteConnectionPool
    ) throws {
        if found == .complete { return }
        try DatabaseError.retryingWhileLocked(url.path, for: lockTimeout) {
            try pool.writer().writeWithoutTransaction { db in
                try db.transaction(.immediate) { try SQLiteTable.standard.create(in: db) }
            }
        }
    }
}
