import Foundation
import GRDB
import Logging

extension SQLiteFile {

    /// Changes a collection in a transaction, which other writers may share, and returns when it is committed.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - isLogged: Whether the change is in the log, not one that removes the log.
    ///   - plan: Runs in the transaction before the change is asked for its operations. It may run more than once.
    ///   - work: Carries the change out. It may run more than once.
    /// - Returns: The part of the log that the change takes up, `nil` if there is no log.
    @discardableResult
    func write(
        _ change: SQLiteChange,
        isLogged: Bool = true,
        planning plan: SQLiteGroupCommit.Work? = nil,
        _ work: @escaping SQLiteGroupCommit.Work
    ) async throws -> StorageCommit? {
        let (work, committed, outcome) = reporting(change, isLogged: isLogged, planning: plan, work)
        do {
            let (writer, commits) = try await writable()
            try await commits.commit(on: writer, work, committed: committed)
            return outcome.withLock { $0.span?.commit }
        } catch {
            throw storageError(error)
        }
    }

    /// The blocking form of ``write(_:_:)``.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - isLogged: Whether the change is in the log, not one that removes the log.
    ///   - plan: Runs in the transaction before the change is asked for its operations. It may run more than once.
    ///   - work: Carries the change out. It may run more than once.
    ///   - afterwards: Called when the change is committed, in the order of the commits. It must not use the file.
    func blockingWrite(
        _ change: SQLiteChange,
        isLogged: Bool = true,
        planning plan: @escaping SQLiteGroupCommit.Work,
        _ work: @escaping SQLiteGroupCommit.Work,
        committed afterwards: @escaping @Sendable () -> Void
    ) throws {
        let (work, committed, _) = reporting(change, isLogged: isLogged, planning: plan, work)
        try mapped {
            let (writer, commits) = try blockingWritable()
            try commits.blockingCommit(on: writer, work) {
                committed()
                afterwards()
            }
        }
    }

    /// Changes something other than items in a transaction, and returns when it is committed.
    ///
    /// - Parameter work: Changes the file. It may run more than once.
    func writeUnreported(_ work: @escaping SQLiteGroupCommit.Work) async throws {
        do {
            let (writer, commits) = try await writable()
            try await commits.commit(on: writer, work, committed: {})
        } catch {
            throw storageError(error)
        }
    }

    /// The blocking form of ``writeUnreported(_:)``.
    func blockingWriteUnreported(_ work: @escaping SQLiteGroupCommit.Work) throws {
        try mapped {
            let (writer, commits) = try blockingWritable()
            try commits.blockingCommit(on: writer, work, committed: {})
        }
    }

    /// The outcome of a change that may not be committed yet.
    private struct Outcome: Sendable {
        var effects: [SQLiteEffect]?
        var span: SQLiteLog.Span?
    }

    /// Makes a change record its origin in the log, and report itself when it is committed.
    private func reporting(
        _ change: SQLiteChange,
        isLogged: Bool,
        planning plan: SQLiteGroupCommit.Work?,
        _ work: @escaping SQLiteGroupCommit.Work
    ) -> (work: SQLiteGroupCommit.Work, committed: @Sendable () -> Void, outcome: Locked<Outcome>) {
        let outcome = Locked(Outcome())
        return (
            { [self] db in
                try plan?(db)
                // Only now, because an observer may have registered while the change waited.
                let effects = observers.needsEffects(of: change) ? try change.effects(in: db) : nil
                let span: SQLiteLog.Span?
                if isLogged {
                    try createAwaitedLog(of: change.table, in: db)
                    span = try logs.attribute(to: change.origin, in: change.table.log, db) { try work(db) }
                } else {
                    try work(db)
                    span = nil
                }
                outcome.withLock { $0 = Outcome(effects: effects, span: span) }
            },
            { [observers, watch] in
                let outcome = outcome.withLock { $0 }
                watch.committed(change.table, outcome.span)
                observers.post(change, outcome.span, effects: outcome.effects)
            },
            outcome
        )
    }

    /// Creates the log of a collection inside of a transaction if a reader waits for the first change.
    ///
    /// If that fails, the collection can be changed nevertheless. Its readers then read all items.
    private func createAwaitedLog(of table: SQLiteTable, in db: Database) throws {
        guard starts.mustCreateLog(of: table.name) else { return }
        do {
            try db.inSavepoint {
                try SQLiteHistory(of: table, in: self).begin(in: db)
                return .commit
            }
        } catch  where db.isInsideTransaction {
            bodegaLogger.notice(
                "The change log of a collection could not be created.",
                metadata: ["file": "\(url.path)", "error": "\(error)"])
        }
    }
}
