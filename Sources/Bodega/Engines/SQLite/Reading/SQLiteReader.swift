import Dispatch
import Foundation
import GRDB
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A database file that is opened for reading only. Nothing is created or changed, neither in it nor beside it.
///
/// 1. A read locks `session`, so that reads take turns, and opens a ``SQLiteReadSession`` if there is none.
/// 2. Opening adds the reader to ``SQLiteReadRegistry`` and fails while a writer of the process waits to open the file.
/// 3. The session reads from one snapshot. If other programs begin to use the file in another way, its result is
///    discarded, the session is closed, and the read continues with step 1.
/// 4. The session stays open for the next read. A writer that opens the file calls ``release()``, which waits for the
///    read in progress and closes the session. The next read opens another one.
///
/// `session` guards the open session and is locked during reads.
final class SQLiteReader: Sendable {
    private let path: String
    private let lockTimeout: TimeInterval
    private let prepare: @Sendable () throws -> Void

    private struct Session {
        var current: SQLiteReadSession?
        var isClosed = false
    }

    private let session = Locked(Session())

    /// Refers to a file, which the first read opens.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - lockTimeout: How long, in seconds, a read waits for a lock that another program holds.
    ///   - prepare: Called each time before the file is opened.
    init(path: String, lockTimeout: TimeInterval, preparing prepare: @escaping @Sendable () throws -> Void = {}) {
        (self.path, self.lockTimeout, self.prepare) = (path, lockTimeout, prepare)
    }

    deinit {
        closeQuietly()
    }

    /// Closes the file where an error can't be thrown, and logs the error instead.
    func closeQuietly() {
        do {
            try close()
        } catch {
            bodegaLogger.warning(
                "A file that was read could not be closed.", metadata: ["file": "\(path)", "error": "\(error)"])
        }
    }

    /// Reads.
    ///
    /// - Parameters:
    ///   - isTransaction: Whether all statements read from one snapshot.
    ///   - body: Reads. It may run more than once; only the last result counts.
    func read<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value {
        try session.withLock { session in
            if session.isClosed { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
            // SQLite first checks whether a program holds the lock for writing, and then reads the journal. A program
            // that begins a write in between looks like one stopped during a write; see `hasHotJournal` in pager.c.
            var attempts = 0
            return try DatabaseError.retryingWhileLocked(path, for: lockTimeout) {
                while true {
                    do {
                        let current = try session.current ?? open()
                        session.current = current
                        if let value = try current.read(isTransaction: isTransaction, body) { return value }
                    } catch let error as DatabaseError where Self.mayPass(error) {
                        try end(&session)
                        throw DatabaseError(resultCode: .SQLITE_BUSY, message: "\(error)")
                    } catch let error as DatabaseError
                        where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK && attempts < 100
                    {
                        attempts += 1
                        continue
                    }
                    // Other programs use the file in another way now, which requires another connection.
                    try end(&session)
                }
            }
        }
    }

    /// Closes the file for good.
    func close() throws {
        try session.withLock { session in
            session.isClosed = true
            try end(&session)
        }
    }

    /// Closes the file until the next read.
    func release() throws {
        try session.withLock { session in try end(&session) }
    }

    private func open() throws -> SQLiteReadSession {
        guard let identity = SQLiteReadRegistry.Identity(path) else {
            // It existed when the engine was created.
            if errno == ENOENT || errno == ENOTDIR {
                throw StorageError(.placeRemoved, "The database was removed. Open it again.")
            }
            throw StorageError.system(errno, path, "examined")
        }
        try prepare()
        return try SQLiteReadRegistry.opening(identity, by: self) {
            try LockHolders.shared.whileOpening {
                try SQLiteReadSession(path: path, identity: identity, lockTimeout: lockTimeout)
            }
        }
    }

    private func end(_ session: inout Session) throws {
        guard let current = session.current else { return }
        session.current = nil
        defer { SQLiteReadRegistry.closed(current.identity, by: ObjectIdentifier(self)) }
        try current.close()
    }

    /// Whether another program is creating the index of the WAL, so that the error is temporary.
    private static func mayPass(_ error: DatabaseError) -> Bool {
        [.SQLITE_READONLY_CANTINIT, .SQLITE_READONLY_RECOVERY].contains(error.extendedResultCode)
    }
}
