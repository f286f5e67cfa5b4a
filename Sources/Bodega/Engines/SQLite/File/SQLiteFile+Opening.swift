import CSQLiteConfiguration
import Dispatch
import Foundation
import GRDB
import GRDBSQLite
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension SQLiteFile {

    /// Opens the connections to a file in WAL mode.
    ///
    /// SQLite does not wait when two programs change a new file to WAL mode simultaneously, so this retries.
    static func openPool(
        at url: URL,
        _ durability: StorageDurability,
        _ lockTimeout: TimeInterval,
        _ inspection: Inspection
    ) throws -> DatabasePool {
        var configuration = configuration(durability, lockTimeout)
        configuration.prepareDatabase { db in
            if db.configuration.readonly { return }
            try inspection.check(db)
            try beginLog(in: db)
        }
        return try DatabaseError.retryingWhileLocked(url.path, for: lockTimeout) {
            let pool = try SQLiteReadRegistry.openingToWrite(url.path) {
                try DatabasePool(path: url.path, configuration: configuration)
            }
            // GRDB sets NORMAL when it activates WAL mode.
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
                // Space for the index of a large batch, in kibibytes. SQLite allocates it as needed; on iOS, GRDB
                // releases it under memory pressure.
                try db.execute(sql: "PRAGMA cache_size = -65536")
            }
            return pool
        }
    }

    /// Changes a file to WAL mode, with a WAL that is not empty: into an empty one GRDB would write a table that it
    /// removes again, with a sync.
    private static func beginLog(in db: Database) throws {
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal", isLogEmpty(of: db) else { return }
        // SQLite syncs the header of a restarted WAL, so that after a crash no frames of the previous WAL are valid
        // under it. An empty WAL has no such frames, and the transaction prevents other writers from adding any.
        try db.execute(sql: "PRAGMA synchronous = OFF")
        try db.inTransaction(.immediate) {
            if isLogEmpty(of: db), let version = try Int.fetchOne(db, sql: "PRAGMA user_version") {
                try db.execute(sql: "PRAGMA user_version = \(version)")
            }
            return .commit
        }
    }

    private static func isLogEmpty(of db: Database) -> Bool {
        guard let path = sqlite3_db_filename(db.sqliteConnection, nil).map({ String(cString: $0) }) else {
            return false
        }
        var status = stat()
        return stat(path + "-wal", &status) != 0 || status.st_size == 0
    }

    /// Creates the unnamed collection's table if it is missing.
    func prepareStandardTable() throws {
        let table = SQLiteTable.standard
        try mapped {
            guard case .pool(let pool, _) = connections else { return }
            let (isComplete, lacksDefaults) = try readManyHere { db in
                let isComplete = try table.isComplete(in: db)
                return (isComplete, try isComplete && table.lacksDefaults(in: db))
            }
            if lacksDefaults { addDefaults(to: table, pool) }
            if isComplete { return }
            try DatabaseError.retryingWhileLocked(url.path, for: lockTimeout) {
                try pool.writeWithoutTransaction { db in
                    try db.inTransaction(.immediate) {
                        try table.create(in: db)
                        return .commit
                    }
                }
            }
        }
    }

    /// Adds the defaults that Bodega 2 needs to insert into a table of an earlier version of this package.
    ///
    /// Nothing else depends on them. So this waits for no lock, and if it fails, the file opens nevertheless.
    private func addDefaults(to table: SQLiteTable, _ pool: DatabasePool) {
        do {
            try pool.writeWithoutTransaction { db in
                guard let connection = db.sqliteConnection else { return }
                sqlite3_busy_timeout(connection, 0)
                // Apple's SQLite rejects changes of definitions by default.
                let wasDefended = emporium_sqlite_defend(connection, 0)
                defer {
                    if wasDefended == 1 { _ = emporium_sqlite_defend(connection, 1) }
                    sqlite3_busy_timeout(connection, Int32(lockTimeout * 1000))
                }
                try db.inTransaction(.immediate) {
                    if try table.lacksDefaults(in: db) { try table.addDefaults(in: db) }
                    return .commit
                }
            }
        } catch {
            bodegaLogger.debug(
                "Bodega 2 can't insert into a table of an earlier version yet. The next opening tries again.",
                metadata: ["file": "\(url.path)", "error": "\(error)"]
            )
        }
    }

    private static func configuration(
        _ durability: StorageDurability,
        _ lockTimeout: TimeInterval
    ) -> Configuration {
        var configuration = Configuration()
        configuration.label = "emporium.bodega"
        configuration.busyMode = .timeout(lockTimeout)
        configuration.prepareDatabase { db in
            // GRDB gives readers ten seconds.
            sqlite3_busy_timeout(db.sqliteConnection, Int32(lockTimeout * 1000))
            if durability == .full {
                // On Apple systems, fsync alone does not reach the disk; on other systems this has no effect.
                try db.execute(sql: "PRAGMA fullfsync = 1")
                try db.execute(sql: "PRAGMA checkpoint_fullfsync = 1")
            }
        }
        return configuration
    }
}
