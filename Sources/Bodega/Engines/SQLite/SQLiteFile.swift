import Dispatch
package import Foundation
import GRDB
import GRDBSQLite

/// A database file that is open: its connections, its reads and its commits.
///
/// All engines for collections of one file share one of these. It is also the synchronous core for stores that don't
/// use `async`.
package final class SQLiteFile: Sendable {

    /// Where the file is.
    package let url: URL

    /// How the file is reached.
    enum Connections {
        /// By those that write and read.
        case pool(DatabasePool, SQLiteGroupCommit)
        /// For reading only.
        case reader(SQLiteReader)
    }

    let connections: Connections
    let lockTimeout: TimeInterval
    let changes = SQLiteCommitObservers()
    let knownLogs = SQLiteKnownLogs()
    let watch = SQLiteWatch()
    /// `nil` where another file may come to the place of this one.
    private let ownAuthorship: SQLiteAuthorship?
    private let lastAuthorship = Locked<SQLiteAuthorship?>(nil)
    /// Where everybody is who reads.
    let readers: ReaderGate
    /// Whether this has changed the schema, see ``table(ofCollection:)``.
    let hasCreatedCollections = Locked(false)
    private let queue = DispatchQueue(label: "emporium.bodega.sqlite", attributes: .concurrent)

    /// Opens a file; creates it, and its folder, if it is missing.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - durability: What a finished write has survived.
    ///   - lockTimeout: How long, in seconds, an operation waits for a lock that another program holds.
    ///   - inspection: What must be so before anything is changed.
    /// - Throws: A ``StorageError``.
    init(
        url: URL, durability: StorageDurability, lockTimeout: TimeInterval, _ inspection: Inspection
    ) throws {
        try inspection.checkExistence(of: url)
        self.url = url
        let lockTimeout = Self.limited(lockTimeout)
        self.lockTimeout = lockTimeout
        do {
            try FileSystem.createDirectory(at: url.deletingLastPathComponent())
            let pool = try Self.openPool(at: url, durability, lockTimeout, inspection)
            self.connections = .pool(pool, SQLiteGroupCommit(pool: pool))
            self.readers = ReaderGate(count: pool.configuration.maximumReaderCount, queue: queue)
            self.ownAuthorship = .of(url.path)
        } catch {
            throw Self.failure(error, toOpen: url)
        }
        watch.begin(on: self)
    }

    /// Names a file that is only read. It is opened when it is read.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - lockTimeout: How long, in seconds, an operation waits for a lock that another program holds.
    init(reading url: URL, lockTimeout: TimeInterval) {
        self.url = url
        self.lockTimeout = Self.limited(lockTimeout)
        self.connections = .reader(SQLiteReader(path: url.path, lockTimeout: self.lockTimeout))
        self.readers = ReaderGate(count: 1, queue: queue)
        self.ownAuthorship = nil
        watch.begin(on: self)
    }

    /// Who in this process has written what to the logs of the file.
    var authorship: SQLiteAuthorship {
        if let ownAuthorship { return ownAuthorship }
        let authorship = SQLiteAuthorship.of(url.path)
        // Kept, and the one before is released after the lock.
        _ = lastAuthorship.withLock { last in
            defer { last = authorship }
            return last
        }
        return authorship
    }

    /// The connections of a file that can be written to.
    ///
    /// - Throws: ``StorageError/Code/readOnly`` if it was opened for reading only.
    func writable() throws -> (pool: DatabasePool, commits: SQLiteGroupCommit) {
        guard case .pool(let pool, let commits) = connections else {
            throw StorageError(
                .readOnly, "The file was opened for reading only. Open another engine on it to write.", file: url)
        }
        return (pool, commits)
    }

    /// A time in seconds that SQLite can count, in 32 bits of milliseconds. Not a number counts as zero.
    static func limited(_ lockTimeout: TimeInterval) -> TimeInterval {
        lockTimeout.isNaN ? 0 : min(max(lockTimeout, 0), 2_000_000)
    }

    /// Reads a row or two, where the caller stands if a connection is free: then the read costs no change of thread.
    ///
    /// The closure must be short. It runs outside of a transaction, so it must be a single statement.
    func readOne<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        guard case .pool(let pool, _) = connections, readers.tryEnter() else { return try await readMany(body) }
        do {
            let value = try readWithoutWaiting(pool, body)
            readers.leave()
            return value
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // Still inside, so that the file is not closed before this has read it.
            return try await read(isTransaction: true, body, entering: readers.returnLater)
        } catch {
            readers.leave()
            throw storageError(error)
        }
    }

    /// Reads on the caller's thread. Readers hardly ever have to wait, only while another program opens or closes the
    /// file; this one throws `SQLITE_BUSY` then.
    private func readWithoutWaiting<Value>(
        _ pool: DatabasePool,
        _ body: (Database) throws -> Value
    ) throws -> Value {
        try pool.unsafeRead { db in
            sqlite3_busy_timeout(db.sqliteConnection, 0)
            defer { sqlite3_busy_timeout(db.sqliteConnection, Int32(lockTimeout * 1000)) }
            return try body(db)
        }
    }

    /// Reads any number of rows as they were at one moment, on a thread that may wait.
    func readMany<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await read(isTransaction: true, body, entering: readers.enterLater)
    }

    /// Uses a reading connection outside of a transaction, on a thread that may wait.
    func readLoosely<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await read(isTransaction: false, body, entering: readers.enterLater)
    }

    private func read<Value: Sendable>(
        isTransaction: Bool,
        _ body: @escaping @Sendable (Database) throws -> Value,
        entering: (@escaping ReaderGate.Read) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            entering { [self] in
                let result = Result { try mapped { try connections.read(isTransaction: isTransaction, body) } }
                return { continuation.resume(with: result) }
            }
        }
    }

    /// Changes the file in a transaction, which may be shared with other writers, and returns when it is committed.
    ///
    /// - Parameters:
    ///   - change: What is changed, and by whom, for those who follow the changes.
    ///   - work: Changes the file. It may run more than once.
    /// - Returns: Where it is in the history, if that is known.
    @discardableResult
    func write(_ change: SQLiteChange, _ work: @escaping SQLiteGroupCommit.Work) async throws -> StorageCommit? {
        let span = Locked<SQLiteSignature.Span?>(nil)
        let (work, committed, failed) = followed(change, work) { made in span.withLock { $0 = made } }
        do {
            try await writable().commits.commit(work, committed: committed)
            return span.withLock { $0 }.map { StorageCommit(before: $0.before.cursor, after: $0.after.cursor) }
        } catch {
            failed()
            throw storageError(error)
        }
    }

    /// Changes what is beside the items in a transaction, and returns when it is committed.
    ///
    /// - Parameter work: Changes the file. It may run more than once.
    func writeUnfollowed(_ work: @escaping SQLiteGroupCommit.Work) async throws {
        do {
            try await writable().commits.commit(work, committed: {})
        } catch {
            throw storageError(error)
        }
    }

    /// The same on the caller's thread, which waits.
    func writeUnfollowedHere(_ work: @escaping SQLiteGroupCommit.Work) throws {
        try mapped { try writable().commits.commitHere(work, committed: {}) }
    }

    /// Changes the file in a transaction on the caller's thread, which waits until it is committed.
    ///
    /// - Parameters:
    ///   - change: What is changed, and by whom, for those who follow the changes.
    ///   - plan: Finds out what is to be done, before the change is asked for its operations. It may run more than once.
    ///   - work: Changes the file. It may run more than once.
    ///   - afterwards: Is called when it is committed, in the order of the commits. It must not use the file.
    func writeHere(
        _ change: SQLiteChange,
        planning plan: @escaping SQLiteGroupCommit.Work,
        _ work: @escaping SQLiteGroupCommit.Work,
        committed afterwards: @escaping @Sendable () -> Void
    ) throws {
        let (work, committed, failed) = followed(change, planning: plan, work) { _ in }
        do {
            try writable().commits.commitHere(work) {
                committed()
                afterwards()
            }
        } catch {
            failed()
            throw storageError(error)
        }
    }

    /// Adds to a change that those who follow are told.
    private func followed(
        _ change: SQLiteChange,
        planning plan: SQLiteGroupCommit.Work? = nil,
        _ work: @escaping SQLiteGroupCommit.Work,
        located: @escaping @Sendable (SQLiteSignature.Span?) -> Void
    ) -> (work: SQLiteGroupCommit.Work, committed: @Sendable () -> Void, failed: @Sendable () -> Void) {
        let outcome = Locked(Outcome())
        return (
            { [changes, authorship] db in
                // It may be made again, after a transaction that failed.
                outcome.withLock { $0.takeSignature() }?.drop()
                try plan?(db)
                // Asked when it is its turn, because somebody may have come while it waited.
                let effects = changes.needsEffects(of: change) ? try change.effects(in: db) : nil
                let signature = try SQLiteSignature.sign(change, in: authorship, db) { try work(db) }
                outcome.withLock { $0 = Outcome(effects: effects, signature: signature) }
            },
            { [changes, watch] in
                let outcome = outcome.withLock { $0 }
                let span = outcome.signature?.settle()
                watch.committed(change.table, span)
                located(span)
                changes.post(change, effects: outcome.effects)
            },
            { outcome.withLock { $0.takeSignature() }?.drop() }
        )
    }

    /// What a change has come to, as long as it is not committed.
    private struct Outcome: Sendable {
        var effects: [SQLiteEffect]?
        var signature: SQLiteSignature?

        mutating func takeSignature() -> SQLiteSignature? {
            defer { signature = nil }
            return signature
        }
    }

    /// Reads a row or two on the caller's thread, which waits if no connection is free.
    ///
    /// It runs outside of a transaction, so it must be a single statement.
    func readOneHere<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try readHere(isTransaction: false, body)
    }

    /// Reads any number of rows as they were at one moment, on the caller's thread, which waits if no connection is free.
    func readManyHere<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try readHere(isTransaction: true, body)
    }

    /// Uses a reading connection on the caller's thread. It is counted like those of asynchronous readers, which otherwise
    /// would take for free what isn't, and hold a thread that must not wait.
    private func readHere<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value {
        readers.enterWaiting()
        defer { readers.leave() }
        return try mapped { try connections.read(isTransaction: isTransaction, body) }
    }

    /// Does something slow with the file, on a thread that may wait.
    func onQueue<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.mapped(body) }) }
        }
    }

    /// Runs a closure whose errors are to be storage errors.
    func mapped<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw storageError(error)
        }
    }
}

extension SQLiteFile.Connections {
    /// Reads on the caller's thread, which waits.
    ///
    /// - Parameters:
    ///   - isTransaction: Whether all statements see one moment; otherwise each does.
    ///   - body: Reads. It may run more than once.
    func read<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value {
        switch self {
        case .pool(let pool, _): try isTransaction ? pool.read(body) : pool.unsafeRead(body)
        case .reader(let reader): try reader.read(isTransaction: isTransaction, body)
        }
    }
}
