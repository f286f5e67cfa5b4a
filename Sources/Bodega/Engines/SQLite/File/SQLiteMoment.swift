import Foundation
import GRDB
import Logging

/// A snapshot of a file, from which the reads of a task answer, see ``StorageDatabase/atOneMoment(_:)``.
///
///      task ── read ──► jobs ──► thread: enter the gate, begin a transaction, run the jobs, end it, leave
///
/// A thread of its own holds the connection with its transaction, so that a moment takes none of the threads that
/// other readers wait for. The lock of `state` guards the jobs. After ``end()``, there are no others.
final class SQLiteMoment: Sendable {

    /// The error of a read for which a log must be created first, so that the moment is too early.
    struct Outdated: Error {
        let table: SQLiteTable

        init(_ table: SQLiteTable) { self.table = table }
    }

    private typealias Job = @Sendable (Database) -> Void

    private struct State {
        var jobs: [Job] = []
        var hasEnded = false
    }

    private let state = Locked(State())
    private let signal = DispatchSemaphore(value: 0)

    /// Begins a moment.
    ///
    /// - Throws: A ``StorageError`` if the file can't be read.
    init(of file: SQLiteFile) async throws {
        try await withCheckedThrowingContinuation { (begun: CheckedContinuation<Void, any Error>) in
            let thread = Thread { [self] in
                let hasBegun = Locked(false)
                do {
                    file.readers.enterWaiting()
                    defer { file.readers.leave() }
                    try file.mapped {
                        try file.connections.read(isTransaction: true) { db in
                            // The transaction begins with its first read.
                            _ = try SQLiteStatement.integer("SELECT 1 FROM main.sqlite_master LIMIT 1", in: db)
                            hasBegun.withLock { $0 = true }
                            begun.resume()
                            while let job = nextJob() { job(db) }
                        }
                    }
                } catch {
                    if !hasBegun.withLock({ $0 }) { return begun.resume(throwing: error) }
                    bodegaLogger.debug("A snapshot could not be ended.", metadata: ["error": "\(error)"])
                }
            }
            thread.name = "emporium.bodega.moment"
            thread.qualityOfService = .userInitiated
            thread.start()
        }
    }

    private func nextJob() -> Job? {
        while true {
            let (job, hasEnded) = state.withLock { state -> (Job?, Bool) in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.hasEnded)
            }
            if let job { return job }
            if hasEnded { return nil }
            signal.wait()
        }
    }

    /// Reads at the moment.
    ///
    /// - Returns: `nil` after the moment has ended.
    func read<Value: Sendable>(
        of file: SQLiteFile, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value? {
        try await withCheckedThrowingContinuation { continuation in
            let isAdded = state.withLock { state in
                if state.hasEnded { return false }
                state.jobs.append { db in
                    continuation.resume(
                        with: Result {
                            // A suspension waits for the moment, and can't interrupt a statement that comes later.
                            try LockHolders.shared.check()
                            return try file.mapped { try body(db) }
                        })
                }
                return true
            }
            if isAdded { signal.signal() } else { continuation.resume(returning: nil) }
        }
    }

    /// Ends the moment, after the reads that have begun.
    func end() {
        state.withLock { $0.hasEnded = true }
        signal.signal()
    }
}

extension SQLiteFile {

    package func atOneMoment(_ body: @Sendable () async throws -> Void) async throws {
        // A file that is only read has no connection that stays open.
        if isAtMoment || !isWritable { return try await body() }
        while true {
            let moment = try await SQLiteMoment(of: self)
            do {
                defer { moment.end() }
                return try await StorageMoment.run(of: self, moment, body)
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
        try await (StorageMoment.state(of: self) as? SQLiteMoment)?.read(of: self, body)
    }
}
