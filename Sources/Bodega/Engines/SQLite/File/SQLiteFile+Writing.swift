import Foundation
import GRDB
import Logging

extension SQLiteFile {

    /// Changes a collection in a transaction, which other writers may share, and returns when it is committed.
    ///
    /// - Parameters:
    ///   - table: The collection's table.
    ///   - origin: The origin to record in the log.
    ///   - isLogged: Whether the change is in the log, not one that removes the log.
    ///   - work: Carries the change out. It may run more than once.
    /// - Returns: The place of the change in the log, `nil` if there is no log.
    @discardableResult
    func write(
        to table: SQLiteTable,
        by origin: StorageOrigin,
        isLogged: Bool = true,
        _ work: @escaping SQLiteGroupCommit.Work
    ) async throws -> StorageCommit? {
        let (work, _, committed) = signaling(to: table, by: origin, isLogged: isLogged, work)
        let commit = Locked<StorageCommit?>(nil)
        try await commitRepeating(work) { commit.withLock { $0 = committed() } }
        return commit.withLock { $0 }
    }

    /// Commits a change, again if a suspension has ended the first attempt.
    private func commitRepeating(
        _ work: @escaping SQLiteGroupCommit.Work, committed: @escaping @Sendable () -> Void
    ) async throws {
        try await LockHolders.shared.repeating {
            do {
                let (writer, commits) = try await writable()
                try await commits.commit(on: writer, work, committed: committed)
            } catch {
                throw storageError(error)
            }
        }
    }

    /// Changes several collections in a transaction, which other writers may share, and returns when it is committed.
    ///
    /// - Parameters:
    ///   - changes: The tables, the origins to record in their logs, and what carries the changes out, in this order.
    ///     They may run more than once.
    ///   - mayBegin: Whether to carry them out, which it finds out in the same transaction. It may run more than once.
    /// - Returns: The places of the changes in the logs, `nil` if they were not carried out.
    func write(
        _ changes: [(table: SQLiteTable, origin: StorageOrigin, work: SQLiteGroupCommit.Work)],
        if mayBegin: @escaping @Sendable (Database) throws -> Bool
    ) async throws -> [StorageCommit?]? {
        let parts = changes.map { signaling(to: $0.table, by: $0.origin, isLogged: true, $0.work) }
        let (begins, places) = (Locked(false), Locked<[StorageCommit?]>([]))
        try await commitRepeating { db in
            let may = try mayBegin(db)
            begins.withLock { $0 = may }
            if may { for part in parts { try part.work(db) } }
        } committed: {
            if begins.withLock({ $0 }) { places.withLock { $0 = parts.map { $0.committed() } } }
        }
        return begins.withLock { $0 } ? places.withLock { $0 } : nil
    }

    /// The blocking form of ``write(to:by:isLogged:_:)``.
    ///
    /// - Parameters:
    ///   - table: The collection's table.
    ///   - origin: The origin to record in the log.
    ///   - isLogged: Whether the change is in the log, not one that removes the log.
    ///   - plan: Runs before, in the same transaction. It may create the log, and may run more than once.
    ///   - work: Carries the change out. It may run more than once.
    ///   - afterwards: Called with the place of the change in the log, in the order of the commits. It must not use the
    ///     file.
    func blockingWrite(
        to table: SQLiteTable,
        by origin: StorageOrigin,
        isLogged: Bool,
        planning plan: @escaping SQLiteGroupCommit.Work,
        _ work: @escaping SQLiteGroupCommit.Work,
        committed afterwards: @escaping @Sendable (StorageCommit?) -> Void
    ) throws {
        try ThreadTransaction.checkUse(of: self)
        let (work, place, committed) = signaling(to: table, by: origin, isLogged: isLogged, planning: plan, work)
        try mapped {
            if let transaction {
                return try transaction.write(to: table, by: origin) { db in
                    try work(db)
                    return place()
                } committed: {
                    afterwards(committed())
                }
            }
            let (writer, commits) = try blockingWritable()
            try commits.blockingCommit(on: writer, work) { afterwards(committed()) }
        }
    }

    /// Changes something other than items in a transaction, and returns when it is committed.
    ///
    /// - Parameter work: Changes the file. It may run more than once.
    func writeUnreported(_ work: @escaping SQLiteGroupCommit.Work) async throws {
        try await commitRepeating(work, committed: {})
    }

    /// The blocking form of ``writeUnreported(_:)``.
    func blockingWriteUnreported(_ work: @escaping SQLiteGroupCommit.Work) throws {
        try mapped {
            let (writer, commits) = try blockingWritable()
            try commits.blockingCommit(on: writer, work, committed: {})
        }
    }

    /// Makes a change record its origin in the log, and signal itself when it is committed.
    ///
    /// - Returns: What carries the change out, its place in the log, `nil` if there is no log, and what signals it and
    ///   returns the place.
    private func signaling(
        to table: SQLiteTable,
        by origin: StorageOrigin,
        isLogged: Bool,
        planning plan: SQLiteGroupCommit.Work? = nil,
        _ work: @escaping SQLiteGroupCommit.Work
    ) -> (
        work: SQLiteGroupCommit.Work, place: @Sendable () -> StorageCommit?,
        committed: @Sendable () -> StorageCommit?
    ) {
        let commit = Locked<StorageCommit?>(nil)
        return (
            { [self] db in
                try plan?(db)
                guard isLogged else { return try work(db) }
                try createAwaitedLog(of: table, in: db)
                let attributed = try logs.attribute(to: origin, in: table.log, db) { try work(db) }
                commit.withLock { $0 = attributed }
            },
            { commit.withLock { $0 } },
            { [watch] in
                let commit = commit.withLock { $0 }
                watch.committed(table, commit, by: origin)
                return commit
            }
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
