import Foundation
import GRDB
import Logging

extension SQLiteFile {

    /// The minimum number of free bytes for vacuuming automatically.
    private static let leastFreed = 1 << 20

    /// The maximum number of used bytes for vacuuming automatically. Other writers wait while they are copied.
    private static let mostCopied = 16 << 20

    /// Rewrites the file without its free pages.
    ///
    /// - Parameter waits: Whether to wait for other writers.
    func vacuum(waitingForWriters waits: Bool = true) throws {
        let writer = try blockingWritable().writer
        try use(writer) { db in
            try db.withLockTimeout(waits ? lockTimeout : 0, then: lockTimeout) { try db.execute(sql: "VACUUM") }
            // In WAL mode the file itself shrinks with the checkpoint.
            do {
                try db.withLockTimeout(0, then: lockTimeout) { _ = try db.checkpoint(.truncate) }
            } catch let error as DatabaseError where error.isOfLock {
                bodegaLogger.notice("The file shrinks later: it is being read.", metadata: ["file": "\(url.path)"])
            }
        }
    }

    /// Returns the space of removed items to the file system, if that is quick.
    ///
    /// The items are removed even if this fails, so an error is only logged. SQLite reuses the space in any case.
    func vacuumIfQuick() async {
        do {
            // Not again after a suspension: by then, the space may be in use.
            let (used, free) = try await readLooselyOnce { db in
                let sizes = try ["page_size", "page_count", "freelist_count"].map { name in
                    try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0
                }
                return ((sizes[1] - sizes[2]) * sizes[0], sizes[2] * sizes[0])
            }
            guard free >= Self.leastFreed, used <= min(free, Self.mostCopied) else { return }
            try await onWorker { try self.vacuum(waitingForWriters: false) }
        } catch {
            bodegaLogger.notice(
                "The file could not be vacuumed. SQLite reuses the space of removed items, or vacuum() releases it.",
                metadata: ["file": "\(url.path)", "error": "\(error)"]
            )
        }
    }
}
