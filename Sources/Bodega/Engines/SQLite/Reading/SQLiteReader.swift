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

/// A database file that is only read. Nothing is created or changed, neither in it nor beside it.
///
/// Reads take turns. Each sees the file as it is at one moment, whoever writes to it.
final class SQLiteReader: Sendable {
    private let path: String
    private let lockTimeout: TimeInterval

    private struct Session {
        var current: SQLiteReadSession?
        var isClosed = false
    }

    private let session = Locked(Session())

    /// Names a file, which is opened when it is read.
    init(path: String, lockTimeout: TimeInterval) {
        self.path = path
        self.lockTimeout = lockTimeout
    }

    deinit {
        closeQuietly()
    }

    /// Closes the file where nobody can be told that this fails.
    func closeQuietly() {
        do {
            try close()
        } catch {
            bodegaLogger.warning(
                "A file that was read stays open.", metadata: ["file": "\(path)", "error": "\(error)"])
        }
    }

    /// Reads.
    ///
    /// - Parameters:
    ///   - isTransaction: Whether all statements see one moment; otherwise each does.
    ///   - body: Reads. It may run more than once, and what it does before the last time doesn't count.
    func read<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value {
        try session.withLock { session in
            if session.isClosed { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
            // SQLite looks whether somebody holds the lock for writing, and then into the journal. Who begins a write in
            // between looks like who was stopped in the midst of one; see `hasHotJournal` in its pager.c.
            var looks = 0
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
                        where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK && looks < 100
                    {
                        looks += 1
                        continue
                    }
                    // Others use it in another way now, which takes another connection.
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
            // It was there when the engine was made.
            if errno == ENOENT { throw StorageError(.placeRemoved, "The database was removed. Open it anew.") }
            throw StorageError.system(errno, path, "examined")
        }
        return try SQLiteReadRegistry.opening(identity, by: self) {
            try SQLiteReadSession(path: path, identity: identity, lockTimeout: lockTimeout)
        }
    }

    private func end(_ session: inout Session) throws {
        guard let current = session.current else { return }
        session.current = nil
        defer { SQLiteReadRegistry.closed(current.identity, by: ObjectIdentifier(self)) }
        try current.close()
    }

    /// Whether the index of the log is only being set up by somebody who may write to it.
    private static func mayPass(_ error: DatabaseError) -> Bool {
        [.SQLITE_READONLY_CANTINIT, .SQLITE_READONLY_RECOVERY].contains(error.extendedResultCode)
    }
}
