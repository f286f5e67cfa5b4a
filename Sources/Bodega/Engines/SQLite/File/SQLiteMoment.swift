import Foundation
import GRDB
import Logging

/// A snapshot of a file, from which the reads of a task answer, see ``StorageDatabase/atOneMoment(_:)``.
///
/// It is a connection with an open transaction, and takes a place in the gate until it ends. Its reads take turns: a
/// short one runs on its caller's thread, others on one of the ``WorkerThreads``. After ``end()``, there are no others,
/// and the last one ends the transaction.
final class SQLiteMoment: Sendable {

    /// The error of a read for which a log must be created first, so that the moment is too early.
    struct Outdated: Error {
        let table: SQLiteTable

        init(_ table: SQLiteTable) { self.table = table }
    }

    private struct State {
        /// The reads that have begun.
        var reads = 0
        var hasEnded = false

        var isOver: Bool { hasEnded && reads == 0 }
    }

    private let file: SQLiteFile
    private let pool: SQLiteConnectionPool
    private let connection: DatabaseQueue
    private let state = Locked(State())
    /// Locked during a read.
    private let turn = NSLock()

    /// Begins a moment. Its place in the gate is taken.
    private init(of file: SQLiteFile, _ pool: SQLiteConnectionPool) throws {
        (self.file, self.pool, connection) = (file, pool, try pool.begin())
    }

    /// Begins a moment, on the caller's thread if nothing has to be waited for.
    ///
    /// - Throws: A ``StorageError`` if the file can't be read.
    static func begin(of file: SQLiteFile) async throws -> SQLiteMoment {
        if let moment = beginWithoutWaiting(of: file) { return moment }
        return try await WorkerThreads.shared.value {
            file.readers.enterWaiting()
            do {
                return try file.mapped { try SQLiteMoment(of: file, file.pool(of: file.connections).0) }
            } catch {
                file.readers.leave()
                throw error
            }
        }
    }

    private static func beginWithoutWaiting(of file: SQLiteFile) -> SQLiteMoment? {
        guard file.readers.tryEnter() else { return nil }
        do {
            if let pool = file.openedPool { return try SQLiteMoment(of: file, pool) }
        } catch {
            // It is begun again on another thread, which waits or throws.
        }
        file.readers.leave()
        return nil
    }

    /// Reads on a thread that may block.
    ///
    /// - Returns: `nil` after the moment has ended.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value? {
        guard enter() else { return nil }
        defer { leave() }
        return try await WorkerThreads.shared.value { [self] in
            WorkerThreads.waiting { turn.lock() }
            defer { turn.unlock() }
            // A suspension waits for the moment, and can't interrupt a statement that comes later.
            try LockHolders.shared.check()
            return try file.mapped { try connection.unsafeRead(body) }
        }
    }

    /// Reads on the caller's thread.
    ///
    /// - Returns: `nil` if the read fails or would have to wait, or after the moment has ended.
    func readWithoutWaiting<Value>(_ body: (Database) throws -> Value) -> Value? {
        guard enter() else { return nil }
        defer { leave() }
        guard turn.try() else { return nil }
        defer { turn.unlock() }
        do {
            try LockHolders.shared.check()
            return try connection.unsafeRead(body)
        } catch {
            // The read elsewhere finds the same, or succeeds.
            return nil
        }
    }

    /// Ends the moment, after the reads that have begun.
    func end() {
        let isOver = state.withLock { state in
            state.hasEnded = true
            return state.isOver
        }
        if isOver { close() }
    }

    private func enter() -> Bool {
        state.withLock { state in
            if state.hasEnded { return false }
            state.reads += 1
            return true
        }
    }

    private func leave() {
        let isOver = state.withLock { state in
            state.reads -= 1
            return state.isOver
        }
        if isOver { close() }
    }

    private func close() {
        defer { file.readers.leave() }
        do {
            try pool.end(connection)
        } catch {
            bodegaLogger.debug("A snapshot could not be ended.", metadata: ["error": "\(error)"])
        }
    }
}

extension SQLiteFile {

    package func atOneMoment(_ body: @Sendable () async throws -> Void) async throws {
        // A file that is only read has no connection that stays open.
        if isAtMoment || !isWritable { return try await body() }
        while true {
            do {
                // Its reads can't wait for the end of a suspension, which waits for the end of the moment.
                return try await LockHolders.shared.repeating {
                    try await moments.withLock {
                        let moment = try await SQLiteMoment.begin(of: self)
                        defer { moment.end() }
                        try await StorageMoment.run(of: self, moment, body)
                    }
                }
            } catch let error as SQLiteMoment.Outdated {
                try await writeUnreported { [self] db in try SQLiteHistory(of: error.table, in: self).begin(in: db) }
            }
        }
    }

    /// Whether the task reads this file at one moment.
    var isAtMoment: Bool { StorageMoment.state(of: self) != nil }

    /// Reads at the moment of the task, `nil` if it has none.
    func readAtMoment<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value? {
        try await (StorageMoment.state(of: self) as? SQLiteMoment)?.read(body)
    }
}
