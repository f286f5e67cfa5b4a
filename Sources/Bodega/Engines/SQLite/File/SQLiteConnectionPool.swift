import CSQLiteConfiguration
import Foundation
import GRDB
import Logging

/// The connections to a file that can be written to.
///
/// 1. Opening the file opens its first connection, which can write. Until something is written, it is used to read, so
///    that a program that opens a file and reads it needs no other.
/// 2. A reader, admitted by the ``ReaderGate``, takes a connection from `idle`, or opens one that can only read. It
///    reads, and puts the connection back.
/// 3. The first write makes the first connection the writer, for good. If a reader is using it, the write does not wait
///    and opens another one.
///
/// `state` guards which connections are idle and which one writes. `opening` is locked while a writer is opened.
///
/// GRDB's `DatabasePool` opens two connections to read one item, writes to a file with an empty WAL when it opens it,
/// and looks for a changed schema before each read, for a cache that this package does not use.
final class SQLiteConnectionPool: Sendable {

    /// Maximum number of readers.
    static let maximumReaderCount = 5

    /// The error of a connection that is closed, as GRDB throws it.
    static let isClosed = DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed")

    private struct State {
        /// The connections that nothing uses.
        var idle: [DatabaseQueue]
        var writer: DatabaseQueue?
        var isClosed = false

        func checkOpen() throws {
            if isClosed { throw SQLiteConnectionPool.isClosed }
        }
    }

    private let first: DatabaseQueue
    private let firstConnection: ObjectIdentifier
    /// The place of the file, which each read and each commit checks.
    let place: SQLiteFileIdentity
    private let state: Locked<State>
    private let opening = NSLock()

    /// Opens the first connection.
    init(path: String, configuration: Configuration) throws {
        first = try LockHolders.shared.whileOpening { try DatabaseQueue(path: path, configuration: configuration) }
        firstConnection = first.unsafeRead { ObjectIdentifier($0) }
        place = SQLiteFileIdentity(path: path, resolved: FileSystem.resolvedPath(path))
        state = Locked(State(idle: [first]))
    }

    deinit {
        emptyLogIfRemoved()
        // Before `first`: the last connection empties and removes the WAL, which connections for reading may not do.
        state.withLock { $0.idle = [] }
    }

    /// Reads, blocking the caller while the closure runs.
    ///
    /// - Parameters:
    ///   - isTransaction: Whether all statements read from one snapshot.
    ///   - body: Reads.
    /// - Throws: ``StorageError/Code/placeRemoved`` if the file was removed or replaced.
    func read<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value {
        try place.check()
        let reader = try takeReader()
        defer { state.withLock { $0.idle.append(reader) } }
        return try reader.unsafeRead { db in try isTransaction ? Self.inTransaction(db, body) : body(db) }
    }

    /// Begins a transaction with one snapshot on a connection, which nothing else uses until ``end(_:)``.
    ///
    /// - Throws: ``StorageError/Code/placeRemoved`` if the file was removed or replaced.
    func begin() throws -> DatabaseQueue {
        try place.check()
        let reader = try takeReader()
        do {
            try reader.unsafeRead { db in
                try db.beginReading()
                do {
                    // The transaction begins with its first read.
                    _ = try SQLiteStatement.integer("SELECT 1 FROM main.sqlite_master LIMIT 1", in: db)
                } catch {
                    try db.endReading()
                    throw error
                }
            }
        } catch {
            state.withLock { $0.idle.append(reader) }
            throw error
        }
        return reader
    }

    /// Ends a transaction, and puts the connection back.
    func end(_ reader: DatabaseQueue) throws {
        try reader.unsafeRead { db in try db.endReading() }
        state.withLock { $0.idle.append(reader) }
    }

    /// Reads from one snapshot on the connection that writes, or will write, blocking the caller while it is in use.
    func readOnWriter<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try place.check()
        let writer = try state.withLock { state in
            try state.checkOpen()
            return state.writer ?? first
        }
        return try writer.unsafeRead { db in try Self.inTransaction(db, body) }
    }

    private static func inTransaction<Value>(_ db: Database, _ body: (Database) throws -> Value) throws -> Value {
        try db.beginReading()
        let result = Result { try body(db) }
        try db.endReading()
        return try result.get()
    }

    /// Whether a connection is the one that writes, or will write unless a reader is using it then.
    func isWriter(_ db: Database) -> Bool {
        let writer = state.withLock { $0.writer }
        if writer == nil || writer === first { return ObjectIdentifier(db) == firstConnection }
        // The other connections in the pool can only read.
        return !db.configuration.readonly && ObjectIdentifier(db) != firstConnection
    }

    private func takeReader() throws -> DatabaseQueue {
        let reader = try state.withLock { state in
            try state.checkOpen()
            return state.idle.popLast()
        }
        if let reader { return reader }
        var configuration = first.configuration
        configuration.readonly = true
        return try open(configuration)
    }

    /// The connection that writes, `nil` if another one must be opened, which can block the caller.
    func availableWriter() throws -> DatabaseQueue? {
        try state.withLock { state in
            try state.checkOpen()
            if let writer = state.writer { return writer }
            guard let index = state.idle.firstIndex(where: { $0 === first }) else { return nil }
            prepareToWrite(first)
            state.writer = state.idle.remove(at: index)
            return first
        }
    }

    /// The connection that writes, opened if the first one is in use.
    func writer() throws -> DatabaseQueue {
        if let writer = try availableWriter() { return writer }
        return try opening.withLock {
            if let writer = try availableWriter() { return writer }
            let opened = try open(first.configuration)
            return try state.withLock { state in
                try state.checkOpen()
                // The first connection may have become the writer in the meantime.
                if let writer = state.writer { return writer }
                prepareToWrite(opened)
                state.writer = opened
                return opened
            }
        }
    }

    /// The connection that writes, `nil` if nothing was written.
    var openedWriter: DatabaseQueue? { state.withLock { $0.writer } }

    /// Opens another connection to the same file. SQLite would open any file that is at the path, or create one.
    private func open(_ configuration: Configuration) throws -> DatabaseQueue {
        try place.check()
        let connection = try LockHolders.shared.whileOpening {
            try DatabaseQueue(path: first.path, configuration: configuration)
        }
        try place.check()
        return connection
    }

    /// Gives a connection space for the index of a large batch, without blocking the caller.
    private func prepareToWrite(_ connection: DatabaseQueue) {
        WorkerThreads.shared.run {
            do {
                try connection.writeOnWorker { db in try db.allowLargeCache() }
            } catch {
                bodegaLogger.debug("Large batches may be slow.", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Closes all connections. No reader may be inside of the gate. A write that begins in the meantime may fail.
    ///
    /// - Parameter keepsLog: Whether the WAL stays as it is, because copying it into the file would take long.
    func close(keepingLog keepsLog: Bool = false) throws {
        emptyLogIfRemoved()
        try opening.withLock {
            while let connection = nextToClose() {
                if keepsLog { connection.unsafeRead { $0.sqliteConnection.map(emporium_sqlite_keep_log) } }
                try connection.close()
                state.withLock { state in
                    state.idle.removeAll { $0 === connection }
                    if state.writer === connection { state.writer = nil }
                }
            }
        }
    }

    /// Copies the pages of the WAL into a file that was removed or replaced, and empties the WAL.
    ///
    /// SQLite finds a WAL by the path of its file. It leaves that of a file which is gone when it closes the file, and
    /// would then read pages of this file in the one that is at the path next. A file that was moved without its WAL
    /// has all that was written to it afterwards.
    private func emptyLogIfRemoved() {
        do {
            try place.check()
            return
        } catch let error as StorageError where error.code == .placeRemoved {
            // Continues below.
        } catch {
            return
        }
        do {
            try emptyLog()
        } catch {
            bodegaLogger.warning(
                """
                A database was removed or replaced while it was open, and its write-ahead log could not be emptied. \
                Before the path is used again, close all programs that use it, and remove the log.
                """,
                metadata: ["file": "\(place.resolved)", "log": "\(place.resolved)-wal", "error": "\(error)"])
        }
    }

    /// Copies the pages of the WAL into the open file, also if it is at its path no longer, and empties the WAL.
    func emptyLog() throws {
        let writer = state.withLock { $0.writer ?? $0.idle.first { !$0.configuration.readonly } }
        // The last reference to the pool can be released on the queue of a connection.
        try writer?.unsafeReentrantWrite { db in
            if db.sqliteConnection == nil { return }
            db.setLockTimeout(0.1)
            _ = try db.checkpoint(.truncate)
        }
    }

    /// The connection to close next, connections for reading first, see `deinit`. If there is none, all is closed.
    private func nextToClose() -> DatabaseQueue? {
        state.withLock { state in
            let next = state.idle.first { $0.configuration.readonly } ?? state.idle.first ?? state.writer
            state.isClosed = next == nil
            return next
        }
    }
}
