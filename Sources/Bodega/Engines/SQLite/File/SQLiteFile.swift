package import Foundation
import GRDB

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open database file: its connections, its reads and its commits.
///
/// All engines for collections of one file share one of these. It is also the core of synchronous stores.
package final class SQLiteFile: Sendable {

    /// The location of the file.
    package let url: URL

    /// The access to the file.
    enum Connections {
        /// For writing and reading.
        case pool(SQLiteConnectionPool, SQLiteGroupCommit)
        /// For reading only.
        case reader(SQLiteReader)
    }

    private enum Access {
        case unopened
        case open(Connections)
        /// A suspension is closing the connections.
        case closing(Connections)
        case closed
    }

    private struct State {
        var access: Access
        /// The place of the file before a suspension has closed it.
        var former: SQLiteFileIdentity?
        /// Whether the connections are being closed for good.
        var isEnding = false
    }

    private let state: Locked<State>
    /// Locked while the file is opened.
    private let opening = NSLock()
    /// What asynchronous writers wait for until there is a connection that writes.
    private let openings = SharedWork<(writer: DatabaseQueue, commits: SQLiteGroupCommit)>()
    private let open: @Sendable () throws -> Connections
    let lockTimeout: TimeInterval
    /// Whether the file can be written to.
    let isWritable: Bool
    let logs = SQLiteLog.Registry()
    let starts = SQLiteLog.Starts()
    let searchUpdates = SQLiteSearchUpdates()
    let watch = SQLiteWatch()
    private let shrinker = SQLiteWALShrinker()
    /// For reads on their callers' threads.
    let pace = TaskPace()
    /// Admits every reader.
    let readers: ReaderGate
    /// Limits the number of moments to one less than that of readers. So other readers, which can block the threads
    /// that the tasks of moments need, have a place.
    let moments = AsyncLock(holders: SQLiteConnectionPool.maximumReaderCount - 1, ignoringCancellation: true)
    /// Limits reads of many rows in the same way. So reads of one item don't wait for any number of scans.
    let longReads = AsyncLock(holders: SQLiteConnectionPool.maximumReaderCount - 1, ignoringCancellation: true)
    /// Whether this has changed the schema, see ``table(ofCollection:)``.
    let hasCreatedCollections = Locked(false)
    /// Whether the register of collections was found to be sound, see ``existingTable(ofCollection:in:)``.
    let hasCheckedCollections = Locked(false)
    /// Locked during a transaction of a thread, and by ``closeUnlessInTransaction()``.
    let turn = NSLock()

    /// Refers to a file. Using it, or ``openIfNeeded()``, opens it, and creates it and its folder if they are missing.
    ///
    /// - Parameters:
    ///   - url: The location of the file.
    ///   - durability: What a finished write survives.
    ///   - lockTimeout: How long, in seconds, an operation waits for a lock that another program holds.
    ///   - inspection: The conditions to check before anything is changed.
    init(url: URL, durability: StorageDurability, lockTimeout: TimeInterval, _ inspection: Inspection) {
        let (url, lockTimeout) = (url.fixed, Self.limited(lockTimeout))
        self.url = url
        self.lockTimeout = lockTimeout
        self.isWritable = true
        self.state = Locked(State(access: .unopened))
        self.open = { [shrinker] in
            let pool = try Self.openPool(at: url, durability, lockTimeout, inspection)
            return .pool(pool, SQLiteGroupCommit(at: pool.place, committed: shrinker.committed))
        }
        self.readers = ReaderGate(
            count: SQLiteConnectionPool.maximumReaderCount, emptied: shrinker.readersLeft)
        watch.begin(on: self)
        shrinker.begin(on: self)
        LockHolders.shared.add(self)
    }

    /// Refers to a file for reading only. Reading opens it.
    ///
    /// - Parameters:
    ///   - url: The location of the file.
    ///   - lockTimeout: How long, in seconds, an operation waits for a lock that another program holds.
    init(reading url: URL, lockTimeout: TimeInterval) {
        let url = url.fixed
        self.url = url
        self.lockTimeout = Self.limited(lockTimeout)
        self.isWritable = false
        let reader = SQLiteReader(path: url.path, lockTimeout: self.lockTimeout) {
            try Self.closeFormerFiles(at: url.path)
        }
        let connections = Connections.reader(reader)
        self.state = Locked(State(access: .open(connections)))
        self.open = { connections }
        self.readers = ReaderGate(count: 1)
        watch.begin(on: self)
        LockHolders.shared.add(self)
    }

    /// The access to the file, which is opened if necessary. This can block the caller.
    ///
    /// - Throws: A ``StorageError`` if the file could not be opened, or was closed. It is then unchanged.
    var connections: Connections {
        get throws {
            if let connections = try openConnections() { return connections }
            WorkerThreads.waiting { opening.lock() }
            defer { opening.unlock() }
            if let connections = try openConnections() { return connections }
            let former = state.withLock(\.former)
            // SQLite would open any file that is at the path, or create one.
            try former.map { try mapped($0.check) }
            let connections = try open()
            try former.map { try mapped($0.check) }
            note(connections)
            state.withLock { $0.access = .open(connections) }
            return connections
        }
    }

    /// Opens the file, blocking the caller.
    ///
    /// - Throws: A ``StorageError``. The file is then unchanged, and the next use tries to open it again.
    func openIfNeeded() throws {
        _ = try connections
    }

    /// Whether the file was opened, and can be used without opening it.
    var isOpen: Bool {
        state.withLock { state in
            if case .open = state.access { true } else { false }
        }
    }

    /// The place of the file, `nil` unless it is open for writing.
    var openedPlace: SQLiteFileIdentity? { openedPool?.place }

    /// The connection that writes, `nil` if nothing was written.
    var openedWriter: DatabaseQueue? { openedPool?.openedWriter }

    var openedPool: SQLiteConnectionPool? {
        if case .open(.pool(let pool, _)) = state.withLock(\.access) { pool } else { nil }
    }

    /// Checks that the file is still in its place. A file that was opened for reading only is checked by each read.
    ///
    /// - Throws: ``StorageError/Code/placeRemoved`` if it was removed or replaced.
    func checkPlace() throws {
        if case .pool(let pool, _) = try connections { try pool.place.check() }
    }

    /// The access to the file, `nil` if it is not open yet.
    func openConnections() throws -> Connections? {
        switch state.withLock(\.access) {
        case .unopened: nil
        case .open(let connections): connections
        case .closing: throw StorageError.sqlite(StorageError.suspended, file: url)
        case .closed: throw StorageError(.closed, "The file was closed.", file: url)
        }
    }

    /// Ends the access to the file for good. If its connections can't be closed, it stays as it is.
    ///
    /// - Parameter close: Closes the connections, unless the file is not open.
    func end(_ close: (Connections) throws -> Void) throws {
        let connections = opening.withLock {
            state.withLock { state -> Connections? in
                switch state.access {
                case .open(let connections), .closing(let connections):
                    state.isEnding = true
                    return connections
                case .unopened, .closed:
                    state.access = .closed
                    return nil
                }
            }
        }
        guard let connections else { return }
        defer { state.withLock { $0.isEnding = false } }
        try close(connections)
        state.withLock { $0.access = .closed }
    }

    /// Whether the file was closed for good, or is being closed.
    var isClosed: Bool {
        state.withLock { state in
            if case .closed = state.access { true } else { state.isEnding }
        }
    }

    /// Takes the connections to close them in a suspension.
    func beginClosing() -> Connections? {
        state.withLock { state in
            guard case .open(let connections) = state.access else { return nil }
            if case .pool = connections { state.access = .closing(connections) }
            return connections
        }
    }

    /// Notes that a suspension has closed the connections.
    func noteSuspended(at place: SQLiteFileIdentity) {
        state.withLock { state in
            if case .closing = state.access { state = State(access: .unopened, former: place) }
        }
    }

    /// Whether a suspension has closed the connections, and they were not opened since.
    var wasSuspended: Bool {
        state.withLock { state in
            switch state.access {
            case .unopened: state.former != nil
            // Each read opens it.
            case .open(.reader): true
            default: false
            }
        }
    }

    /// The connection that writes, opened if necessary, which can block the caller.
    ///
    /// - Throws: ``StorageError/Code/readOnly`` if the file was opened for reading only.
    func blockingWritable() throws -> (writer: DatabaseQueue, commits: SQLiteGroupCommit) {
        let (pool, commits) = try pool(of: connections)
        return (try mapped { try pool.writer() }, commits)
    }

    /// The form of ``blockingWritable()`` that blocks no caller.
    func writable() async throws -> (writer: DatabaseQueue, commits: SQLiteGroupCommit) {
        if let available = try availableWriter() { return available }
        let opened = try await openings.value { try self.blockingWritable() }
        // Again, with the lock that guards them: another thread has created them.
        return try availableWriter() ?? opened
    }

    private func availableWriter() throws -> (writer: DatabaseQueue, commits: SQLiteGroupCommit)? {
        guard let connections = try openConnections() else { return nil }
        let (pool, commits) = try pool(of: connections)
        return try pool.availableWriter().map { ($0, commits) }
    }

    func pool(of connections: Connections) throws -> (SQLiteConnectionPool, SQLiteGroupCommit) {
        guard case .pool(let pool, let commits) = connections else {
            throw StorageError(
                .readOnly, "The file was opened for reading only. Open another engine on it to write.", file: url)
        }
        return (pool, commits)
    }

    /// Limits a time in seconds to what SQLite can represent in 32 bits of milliseconds. NaN becomes zero.
    static func limited(_ lockTimeout: TimeInterval) -> TimeInterval {
        lockTimeout.isNaN ? 0 : min(max(lockTimeout, 0), 2_000_000)
    }

    /// Uses the connection that writes outside of a transaction, blocking the caller while it is in use.
    func use<Value>(_ writer: DatabaseQueue, _ body: (Database) throws -> Value) throws -> Value {
        if ThreadTransaction.current != nil {
            throw StorageError(.locked, "This can't be done inside of a transaction, only after it.", file: url)
        }
        return try writer.writeOnWorker { db in
            do {
                guard db.sqliteConnection != nil else { throw SQLiteConnectionPool.isClosed }
                return try body(db)
            } catch let error as DatabaseError where error.isOfSuspension {
                // Determined within the access: a suspension can't be complete before.
                throw storageError(error)
            }
        }
    }

    /// Runs a slow operation on a thread that may block.
    func onWorker<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await WorkerThreads.shared.value { try self.mapped(body) }
    }

    /// Runs a closure on a thread that may block.
    func later(_ body: @escaping @Sendable () -> Void) {
        WorkerThreads.shared.run(body)
    }

    /// Runs a closure and turns its errors into storage errors.
    func mapped<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw storageError(error)
        }
    }
}

extension SQLiteFile.Connections {
    /// Reads, blocking the caller.
    ///
    /// - Parameters:
    ///   - isTransaction: Whether all statements read from one snapshot.
    ///   - body: Reads. It may run more than once.
    func read<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value {
        switch self {
        case .pool(let pool, _): try pool.read(isTransaction: isTransaction, body)
        case .reader(let reader): try reader.read(isTransaction: isTransaction, body)
        }
    }
}
