import Foundation
import GRDB

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension SQLiteFile {

    /// Reads a row or two, on the caller's thread if a connection is free: then the read needs no change of thread.
    ///
    /// The closure must be short. It runs outside of a transaction, so it must be a single statement.
    func readOne<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        if let value = try await readAtMoment(body) { return value }
        return try await LockHolders.shared.repeating {
            guard await tryEnter() else { return try await readManyOnce(body) }
            guard let pool = try poolWithinGate() else { return try await readManyOnce(body) }
            return try await readWithoutWaiting(pool, isTransaction: false, body)
        }
    }

    /// Admits a reader on its caller's thread if a place is free.
    private func tryEnter() async -> Bool {
        await pace.count()
        return readers.tryEnter()
    }

    /// The pool for a reader that has entered the gate, which prevents a suspension from closing it. The reader leaves
    /// if there is none.
    private func poolWithinGate() throws -> SQLiteConnectionPool? {
        do {
            if case .pool(let pool, _)? = try openConnections() { return pool }
        } catch {
            readers.leave()
            throw error
        }
        readers.leave()
        return nil
    }

    /// Reads any number of rows from one snapshot, on a thread that may block. A small file is read like a row.
    func readMany<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        if let value = try await readAtMoment(body) { return value }
        return try await LockHolders.shared.repeating {
            try await longReads.withLock { try await readManyOnce(body) }
        }
    }

    /// Reads from one snapshot on the caller's thread, for a millisecond at most: a change of thread and back takes a
    /// tenth of that, which is longer than reading a page of items.
    ///
    /// - Returns: `nil` if the read takes longer, fails, or would have to wait. Then it has to be read elsewhere.
    func readShortly<Value>(
        _ cancellation: SQLiteCancellation, _ body: (Database) throws -> Value
    ) async -> Value? {
        let read = { [lockTimeout] (db: Database) in
            try db.withLockTimeout(0, then: lockTimeout) {
                try cancellation.watch(db, for: Self.shortTime) { try body(db) }
            }
        }
        await pace.count()
        if let moment = StorageMoment.state(of: self) as? SQLiteMoment { return moment.readWithoutWaiting(read) }
        guard readers.tryEnter() else { return nil }
        defer { readers.leave() }
        do {
            return try openedPool?.read(isTransaction: true, read)
        } catch {
            // The read elsewhere finds the same, or succeeds.
            return nil
        }
    }

    /// How long a read can take on its caller's thread.
    @TaskLocal package static var shortTime: Duration = .milliseconds(1)

    private func readManyOnce<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        guard isOpen, isSmall, await tryEnter(), let pool = try poolWithinGate() else {
            return try await read(isTransaction: true, body, entering: readers.schedule)
        }
        return try await readWithoutWaiting(pool, isTransaction: true, body)
    }

    /// Whether reading all of the file takes less time than two changes of thread.
    private var isSmall: Bool {
        var (file, log) = (stat(), stat())
        return stat(url.path, &file) == 0 && file.st_size < Self.smallSize
            && stat(url.path + "-wal", &log) == 0 && log.st_size < Self.smallSize
    }

    private static let smallSize = 64 << 10

    /// Reads on the caller's thread, inside of the gate. A reader has to wait only while another program opens or
    /// closes the file; then it reads again, on a thread that may block.
    private func readWithoutWaiting<Value: Sendable>(
        _ pool: SQLiteConnectionPool,
        isTransaction: Bool,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            let value = try pool.read(isTransaction: isTransaction) { db in
                try db.withLockTimeout(0, then: lockTimeout) { try body(db) }
            }
            readers.leave()
            return value
        } catch let error as DatabaseError where error.isOfLock {
            // The place is kept, so that the file is not closed before this read.
            return try await read(isTransaction: true, body, entering: readers.reschedule)
        } catch {
            // Determined before: a suspension can't be complete while this is inside of the gate.
            let error = storageError(error)
            readers.leave()
            throw error
        }
    }

    /// Reads from one snapshot on the connection that writes, or will write, on a thread that may block.
    func readOnWriter<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await LockHolders.shared.repeating {
            try await withCheckedThrowingContinuation { continuation in
                readers.schedule { [self] in
                    let result = Result { try mapped { try pool(of: connections).0.readOnWriter(body) } }
                    return { continuation.resume(with: result) }
                }
            }
        }
    }

    /// The names of the tables without a log that no other connection can have changed since the start of their logs,
    /// see ``SQLiteLog.Starts``. This blocks the caller while the connection that writes is in use.
    func tablesUnchangedSinceStart() throws -> Set<String> {
        guard starts.exist else { return [] }
        readers.enterWaiting()
        defer { readers.leave() }
        return try mapped { try pool(of: connections).0.readOnWriter(starts.currentTables) }
    }

    /// Whether a connection is the one that writes, or will write unless a reader is using it then.
    func isWriter(_ db: Database) -> Bool { openedPool?.isWriter(db) ?? false }

    /// Uses a reading connection outside of a transaction, on a thread that may block.
    func readLoosely<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await LockHolders.shared.repeating { try await readLooselyOnce(body) }
    }

    /// The form of ``readLoosely(_:)`` that fails if a suspension ends it.
    func readLooselyOnce<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await read(isTransaction: false, body, entering: readers.schedule)
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

    /// Reads a row or two, blocking the caller if no connection is free.
    ///
    /// The closure runs outside of a transaction, so it must be a single statement.
    func blockingReadOne<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try blockingRead(isTransaction: false, body)
    }

    /// Reads any number of rows from one snapshot, blocking the caller if no connection is free.
    func blockingReadMany<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try blockingRead(isTransaction: true, body)
    }

    /// Uses a reading connection on the caller's thread. The gate counts it like those of asynchronous readers:
    /// otherwise they would take a connection for free that is in use, and block a thread that must not block.
    private func blockingRead<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value {
        if let transaction { return try mapped { try transaction.read(body) } }
        readers.enterWaiting()
        defer { readers.leave() }
        return try mapped { try connections.read(isTransaction: isTransaction, body) }
    }
}
