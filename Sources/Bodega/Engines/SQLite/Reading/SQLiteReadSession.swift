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

/// A connection that only reads a file, and the lock that keeps true what it takes for granted.
///
/// SQLite creates a log and an index of it to read a file in WAL mode, so which connection can do without depends on
/// what is there. Each of the four states holds as long as a shared lock on the file is held and one look tells that
/// it still does:
///
/// | state         | what is there                     | the connection                                 | over when        |
/// |---------------|-----------------------------------|------------------------------------------------|------------------|
/// | `.journal`    | no WAL mode: a file of Bodega 2   | locks as usual                                 | WAL mode is set  |
/// | `.still`      | WAL mode, no log: nobody uses it  | reads the file alone, as one that won't change | a log appears    |
/// | `.abandoned`  | a log, but no index: a crash      | keeps an index in memory                       | an index appears |
/// | `.live`       | a log and an index                | uses them; the index is opened for reading     | never            |
///
/// A log and an index are removed only by who gets the file's exclusive lock, so they don't come and go unseen.
final class SQLiteReadSession {

    enum State {
        case journal, still, abandoned, live
    }

    private let raw: SQLiteRawFile
    /// The file, whoever takes its name.
    let identity: SQLiteReadRegistry.Identity
    private let state: State
    /// The log, if there was one.
    private let logIdentity: SQLiteReadRegistry.Identity?
    private let queue: DatabaseQueue
    /// Whether a view stands before a table of Bodega, because that lacks a column.
    private let hidesTable: Bool

    /// Opens a file.
    ///
    /// - Throws: What GRDB or ``SQLiteRawFile`` throws, `SQLITE_BUSY` if somebody changes the file just now.
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
            self.queue = try Self.open(raw.path, found, lockTimeout)
            self.hidesTable = try queue.unsafeRead(SQLiteReadView.hidesTable)
        } catch {
            defer { raw.unlock() }
            // It failed because somebody came just now: try again, in the other way.
            if let state, try Self.state(of: raw) != state { throw DatabaseError(resultCode: .SQLITE_BUSY) }
            throw error
        }
        self.raw = raw
        if !keepsLock { raw.unlock() }
    }

    /// Closes the connection.
    func close() throws {
        // The connection goes first: in one state, closing it takes all locks of the process on the file away.
        try queue.close()
        raw.unlock()
    }

    /// Whether the lock is held from one read to the next. The connection itself holds it if the file is live; with a
    /// journal, others could not write meanwhile.
    private var keepsLock: Bool { state == .still || state == .abandoned }

    /// Reads, if what was taken for granted holds.
    ///
    /// - Parameters:
    ///   - isTransaction: Whether all statements see one moment.
    ///   - body: Reads. What it returns or throws counts only if the state still holds afterwards.
    /// - Returns: `nil` if the file has to be opened anew.
    func read<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value? {
        if !keepsLock { try raw.lock() }
        defer { if !keepsLock { raw.unlock() } }
        guard try holds() else { return nil }
        let result = Result {
            try isTransaction ? queue.read(body) : queue.unsafeRead(body)
        }
        guard try holds() else { return nil }
        return try result.get()
    }

    private func holds() throws -> Bool {
        // The file may have been replaced by another of its name.
        guard SQLiteReadRegistry.Identity(raw.path) == identity else { return false }
        if hidesTable, try !queue.unsafeRead(SQLiteReadView.isStillNeeded) { return false }
        switch state {
        case .journal: return try Self.state(of: raw) == .journal
        case .still: return !Self.exists(raw.path + "-wal")
        case .abandoned:
            // The log must be the one that is open, too: another reader of the process may have taken our lock with it.
            return !Self.exists(raw.path + "-shm") && SQLiteReadRegistry.Identity(raw.path + "-wal") == logIdentity
        case .live: return true
        }
    }

    private static func state(of raw: SQLiteRawFile) throws -> State {
        // The read version of the file format; 2 is WAL, see https://www.sqlite.org/fileformat.html#file_format_version_numbers
        guard try raw.bytes(19..<20) == [2] else { return .journal }
        guard exists(raw.path + "-wal") else { return .still }
        return exists(raw.path + "-shm") ? .live : .abandoned
    }

    private static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    private static func open(_ path: String, _ state: State, _ lockTimeout: TimeInterval) throws -> DatabaseQueue {
        guard sqlite3_compileoption_used("USE_URI") != 0 else {
            throw StorageError(.cannotOpen, "The system's SQLite can't open files for reading only.")
        }
        var configuration = Configuration()
        configuration.label = "emporium.bodega.reading"
        configuration.readonly = true
        configuration.busyMode = .timeout(lockTimeout)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            if state == .abandoned {
                try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                // Without this the log would be removed in the end if there is nothing in it.
                var isPersistent: Int32 = 1
                sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
            }
            try SQLiteReadView.create(in: db)
        }
        let query =
            switch state {
            case .journal: "mode=ro"
            case .still: "mode=ro&immutable=1"
            // An index in memory needs an exclusive lock, which nobody can get who only reads. Ours is held by `raw`.
            case .abandoned: "mode=ro&vfs=unix-none"
            case .live: "mode=ro&readonly_shm=1"
            }
        return try DatabaseQueue(path: SQLiteRawFile.uri(path, query), configuration: configuration)
    }
}
