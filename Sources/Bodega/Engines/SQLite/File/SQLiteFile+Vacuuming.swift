import Foundation
import GRDB
import GRDBSQLite
import Logging

extension SQLiteFile {

    /// How many bytes must be free for it to be worth it to give them back unasked.
    private static let leastFreed = 1 << 20

    /// How many bytes may be in use for that: what copying them takes, other writers wait.
    private static let mostCopied = 16 << 20

    /// Rewrites the file without its free pages.
    ///
    /// - Parameter waits: Whether to wait for others who write.
    func vacuum(waitingForWriters waits: Bool = true) throws {
        let pool = try writable().pool
        try pool.writeWithoutTransaction { db in
            try withBusyTimeout(waits ? lockTimeout : 0, of: db) { try db.execute(sql: "VACUUM") }
            // In WAL mode the file itself shrinks with the checkpoint.
            do {
                try withBusyTimeout(0, of: db) { _ = try db.checkpoint(.truncate) }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                bodegaLogger.notice("The file shrinks later: it is being read.", metadata: ["file": "\(pool.path)"])
            }
        }
    }

    /// Gives back the space that removing all items of a collection has freed, if that is quick.
    ///
    /// The items are removed whether or not it succeeds, so a failure is only logged. The space is used again in any case.
    func vacuumIfQuick() async {
        do {
            let (used, free) = try await readLoosely { db in
                let sizes = try ["page_size", "page_count", "freelist_count"].map { name in
                    try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0
                }
                return ((sizes[1] - sizes[2]) * sizes[0], sizes[2] * sizes[0])
            }
            guard free >= Self.leastFreed, used <= min(free, Self.mostCopied) else { return }
            try await onQueue { try self.vacuum(waitingForWriters: false) }
        } catch {
            bodegaLogger.notice(
                "The space of removed items was not given back. It is used again, or given back by vacuum().",
                metadata: ["file": "\(url.path)", "error": "\(error)"]
            )
        }
    }

    private func withBusyTimeout(_ seconds: TimeInterval, of db: Database, _ body: () throws -> Void) rethrows {
        sqlite3_busy_timeout(db.sqliteConnection, Int32(seconds * 1000))
        defer { sqlite3_busy_timeout(db.sqliteConnection, Int32(lockTimeout * 1000)) }
        try body()
    }
}
