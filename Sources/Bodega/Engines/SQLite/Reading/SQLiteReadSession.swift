import Foundation
import GRDB
import GRDBSQLite

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A connection that only reads a file, and the lock that protects its assumptions about the file.
///
/// To read a file in WAL mode, SQLite creates a WAL and an index of it. How a connection can avoid that depends on the
/// files that exist. With a shared lock on the file, each of these states lasts until the event in the last column:
///
/// | state        | files                           | connection                                 | ends when        |
/// |--------------|---------------------------------|--------------------------------------------|------------------|
/// | `.journal`   | no WAL mode: a file of Bodega 2 | locks as usual                             | WAL mode is set  |
/// | `.still`     | WAL mode, no WAL: not in use    | reads the file alone, as an immutable one  | a WAL appears    |
/// | `.abandoned` | a WAL, but no index: a crash    | keeps an index in memory                   | an index appears |
/// | `.empty`     | an index, a WAL without frames  | keeps an index in memory                   | the WAL changes  |
/// | `.live`      | a WAL and an index              | uses them; the index is opened for reading | never            |
///
/// 1. Opening takes the shared lock, determines the state, and opens the connection for it. In the states `.journal`
///    and `.live`, the lock is released until the next read.
/// 2. A read takes the lock if necessary, and checks the state.
/// 3. It reads and rechecks the state. If either check fails, the result is discarded, and the caller opens another.
///
/// A program that was killed in its first transaction can leave a WAL that has nothing but its header. If no program is
/// alive, SQLite does not read the salts in it, finds that they are not those of the index, and waits in vain for
/// another WAL.
///
/// Only a program with the file's exclusive lock removes a WAL and an index, so they can't be replaced unnoticed
/// between two checks. A session has no lock for its own state: ``SQLiteReader`` uses it from one thread at a time.
final class SQLiteReadSession {

    enum State {
        case journal, still, abandoned, empty, live
    }

    private let raw: SQLiteRawFile
    /// The path by which the file was opened, which may contain symbolic links.
    private let path: String
    /// Identifies the file, even if another file takes its path.
    let identity: SQLiteReadRegistry.Identity
    private let state: State
    /// Identifies the WAL, if there was one.
    private let logIdentity: SQLiteReadRegistry.Identity?
    /// The size and the header of the WAL, which change with each transaction.
    private let log: SQLiteLogFile?
    private let queue: DatabaseQueue
    /// Whether a view hides a table of Bodega 2, which lacks a column.
    private let hidesTable: Bool

    /// Opens a file.
    ///
    /// - Throws: An error of GRDB or ``SQLiteRawFile``, with `SQLITE_BUSY` if another program is changing the file.
    init(path: String, identity: SQLiteReadRegistry.Identity, lockTimeout: TimeInterval) throws {
        let raw = try SQLiteRawFile(path: path)
        try raw.lock()
        var state: State?
        do {
            let found = try Self.state(of: raw)
            state = found
            self.identity = identity
            self.state = found
            self.logIdentity = SQLiteReadRegistry.Identity(raw.path + "-wal")
            self.log = found == .empty ? SQLiteLogFile(raw.path + "-wal") : nil
            self.queue = try Self.open(raw.path, found, lockTimeout)
            self.hidesTable = try queue.unsafeRead(SQLiteReadView.hidesTable)
        } catch {
            defer { raw.unlock() }
            // Another program has changed the state in the meantime. The caller tries again.
            if let state, try Self.state(of: raw) != state { throw DatabaseError(resultCode: .SQLITE_BUSY) }
            throw error
        }
        self.raw = raw
        self.path = path
        if !keepsLock { raw.unlock() }
    }

    /// Closes the connection.
    func close() throws {
        // The connection first: in one state, closing it releases all locks of the process on the file.
        try queue.close()
        raw.unlock()
    }

    /// Whether the lock is held between reads. In the state `.live`, the connection itself holds it; with a journal, it
    /// would prevent other programs from writing.
    private var keepsLock: Bool { state != .journal && state != .live }

    /// Reads, if the state of the file is unchanged.
    ///
    /// - Parameters:
    ///   - isTransaction: Whether all statements read from one snapshot.
    ///   - body: Reads. Its result counts only if the state is still unchanged afterwards.
    /// - Returns: `nil` if the file has to be opened again.
    func read<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value? {
        if !keepsLock { try raw.lock() }
        defer { if !keepsLock { raw.unlock() } }
        guard try holds() else { return nil }
        let result = Result {
            try queue.unsafeRead { db in
                isTransaction ? try db.transaction(.deferred) { try body(db) } : try body(db)
            }
        }
        guard try holds() else { return nil }
        return try result.get()
    }

    private func holds() throws -> Bool {
        // The file may have been replaced by another one.
        guard SQLiteReadRegistry.Identity(path) == identity else { return false }
        if raw.path != path, SQLiteReadRegistry.Identity(raw.path) != identity { return false }
        if hidesTable, try !queue.unsafeRead(SQLiteReadView.isStillNeeded) { return false }
        switch state {
        case .journal: return try Self.state(of: raw) == .journal
        case .still: return !Self.exists(raw.path + "-wal")
        case .abandoned:
            // The WAL must be the open one: another reader of the process may have released the lock by closing it.
            return !Self.exists(raw.path + "-shm") && SQLiteReadRegistry.Identity(raw.path + "-wal") == logIdentity
        case .empty:
            return SQLiteReadRegistry.Identity(raw.path + "-wal") == logIdentity
                && SQLiteLogFile(raw.path + "-wal") == log
        case .live: return true
        }
    }

    private static func state(of raw: SQLiteRawFile) throws -> State {
        // The read version of the file format; 2 is WAL, see
        // https://www.sqlite.org/fileformat.html#file_format_version_numbers
        guard try raw.bytes(19..<20) == [2] else { return .journal }
        guard exists(raw.path + "-wal") else { return .still }
        guard exists(raw.path + "-shm") else { return .abandoned }
        return SQLiteLogFile(raw.path + "-wal")?.isEmpty ?? false ? .empty : .live
    }

    private static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    private static func open(_ path: String, _ state: State, _ lockTimeout: TimeInterval) throws -> DatabaseQueue {
        guard sqlite3_compileoption_used("USE_URI") != 0 else {
            throw StorageError(
                .cannotOpen, "The system's SQLite can't open files for reading only. Open the file for writing.")
        }
        var configuration = Configuration()
        configuration.label = "emporium.bodega.reading"
        configuration.readonly = true
        configuration.prepareDatabase { db in
            try db.addToLockHolders()
            db.setLockTimeout(lockTimeout)
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            if state == .abandoned || state == .empty {
                try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                // Otherwise closing would remove an empty WAL.
                var isPersistent: Int32 = 1
                sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
            }
            try SQLiteReadView.create(in: db)
        }
        let query =
            switch state {
            case .journal: "mode=ro"
            case .still: "mode=ro&immutable=1"
            // An index in memory needs an exclusive lock, which a reader can't get. `raw` holds a shared one.
            case .abandoned, .empty: "mode=ro&vfs=unix-none"
            case .live: "mode=ro&readonly_shm=1"
            }
        return try DatabaseQueue(path: SQLiteRawFile.uri(path, query), configuration: configuration)
    }
}
