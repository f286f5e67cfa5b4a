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
    ///   - removing: What the change may remove.
    ///   - work: Carries the change out. It may run more than once.
    /// - Returns: The place of the change in the log; `nil` if there is no log, or if something has followed from the
    ///   change, which a reader has to read in the log.
    @discardableResult
    func write(
        to table: SQLiteTable,
        by origin: StorageOrigin,
        isLogged: Bool = true,
        removing: Removing? = nil,
        _ work: @escaping SQLiteGroupCommit.Work
    ) async throws -> StorageCommit? {
        let change = signaling(to: table, by: origin, isLogged: isLogged, removing: removing, work)
        let commit = Locked<StorageCommit?>(nil)
        try await commitRepeating { db in
            try change.work(db)
            try change.finish(db)
            try change.check(db)
        } committed: {
            commit.withLock { $0 = change.committed() }
        }
        return commit.withLock { change.isAll() ? $0 : nil }
    }

    /// Operations that may remove items which others name.
    struct Removing: Sendable {
        /// The operations, in the transaction. It may be called more than once.
        let operations: @Sendable () -> [StorageOperation]
        /// The date of the writes that follow from them.
        let date: Date

        init(_ operations: @escaping @Sendable () -> [StorageOperation], at date: Date) {
            (self.operations, self.date) = (operations, date)
        }

        /// - Returns: `nil` if no operation removes anything.
        init?(_ operations: [StorageOperation], at date: Date) {
            guard operations.contains(where: \.isRemoval) else { return nil }
            self.init({ operations }, at: date)
        }
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
    /// - Returns: The places of the changes in the logs, see ``write(to:by:isLogged:removing:_:)``; `nil` if they were
    ///   not carried out.
    func write(
        _ changes: [(table: SQLiteTable, origin: StorageOrigin, removing: Removing?, work: SQLiteGroupCommit.Work)],
        if mayBegin: @escaping @Sendable (Database) throws -> Bool
    ) async throws -> [StorageCommit?]? {
        let parts = changes.map {
            signaling(to: $0.table, by: $0.origin, isLogged: true, removing: $0.removing, $0.work)
        }
        let (begins, places) = (Locked(false), Locked<[StorageCommit?]>([]))
        try await commitRepeating { db in
            let may = try mayBegin(db)
            begins.withLock { $0 = may }
            if !may { return }
            for part in parts { try part.work(db) }
            // One part can remove what refers to an item that another part removes.
            for part in parts { try part.finish(db) }
            for part in parts { try part.check(db) }
        } committed: {
            if !begins.withLock({ $0 }) { return }
            places.withLock { places in
                places = parts.map { $0.committed() }
                if !parts.allSatisfy({ $0.isAll() }) { places = places.map { _ in nil } }
            }
        }
        return begins.withLock { $0 } ? places.withLock { $0 } : nil
    }

    /// The blocking form of ``write(to:by:isLogged:_:)``.
    ///
    /// - Parameters:
    ///   - table: The collection's table.
    ///   - origin: The origin to record in the log.
    ///   - isLogged: Whether the change is in the log, not one that removes the log.
    ///   - removing: What the change may remove.
    ///   - plan: Runs before, in the same transaction. It may create the log, and may run more than once.
    ///   - work: Carries the change out. It may run more than once.
    ///   - afterwards: Called with the place of the change in the log, in the order of the commits. It must not use the
    ///     file.
    func blockingWrite(
        to table: SQLiteTable,
        by origin: StorageOrigin,
        isLogged: Bool,
        removing: Removing,
        planning plan: @escaping SQLiteGroupCommit.Work,
        _ work: @escaping SQLiteGroupCommit.Work,
        committed afterwards: @escaping @Sendable (StorageCommit?) -> Void
    ) throws {
        try ThreadTransaction.checkUse(of: self)
        let change = signaling(
            to: table, by: origin, isLogged: isLogged, removing: removing, planning: plan, work)
        try mapped {
            if let transaction {
                return try transaction.write(to: table, by: origin) { db in
                    try change.work(db)
                    try change.finish(db)
                    try change.check(db)
                    return change.place()
                } committed: {
                    afterwards(change.committed())
                }
            }
            let (writer, commits) = try blockingWritable()
            try commits.blockingCommit(on: writer) { db in
                try change.work(db)
                try change.finish(db)
                try change.check(db)
            } committed: {
                afterwards(change.committed())
            }
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

    /// A change that records its origin in the log, and signals itself when it is committed.
    private struct SignalingChange: Sendable {
        /// Carries the change out.
        let work: SQLiteGroupCommit.Work
        /// Carries out what follows from removed items, after all changes of the transaction.
        let finish: SQLiteGroupCommit.Work
        /// Checks that no reference refuses, after all that follows.
        let check: SQLiteGroupCommit.Work
        /// The place of the change in the log, `nil` if there is no log.
        let place: @Sendable () -> StorageCommit?
        /// Signals the change, and returns its place.
        let committed: @Sendable () -> StorageCommit?
        /// Whether nothing has followed from it.
        let isAll: @Sendable () -> Bool
    }

    private struct Attempt: Sendable {
        var commit: StorageCommit?
        var removal: SQLiteRemoval?
        var consequences: [SQLiteRemoval.Consequence] = []
    }

    /// Makes a change record its origin in the log, and signal itself when it is committed.
    private func signaling(
        to table: SQLiteTable,
        by origin: StorageOrigin,
        isLogged: Bool,
        removing: Removing?,
        planning plan: SQLiteGroupCommit.Work? = nil,
        _ work: @escaping SQLiteGroupCommit.Work
    ) -> SignalingChange {
        let attempt = Locked(Attempt())
        return SignalingChange(
            work: { [self] db in
                attempt.withLock { $0 = Attempt() }
                try plan?(db)
                var removal = try removing.flatMap { try SQLiteRemoval(of: $0.operations(), from: table, in: db) }
                let commit: StorageCommit?
                if isLogged {
                    commit = try attribute(to: origin, in: table, db) { try work(db) }
                } else {
                    try work(db)
                    commit = nil
                }
                try removal?.settle(in: db)
                attempt.withLock { ($0.commit, $0.removal) = (commit, removal) }
            },
            finish: { [self] db in
                let (known, commit) = attempt.withLock { ($0.removal, $0.commit) }
                guard let removing, var removal = known else { return }
                let consequences = try removal.finish(at: removing.date, in: db) {
                    // Followers show the change together with what follows from it.
                    guard let before = commit.flatMap({ SQLiteLog.Row($0.before) }) else { return }
                    try table.log.markShared(origin, ofChangesAfter: before, in: db)
                } attributing: { origin, table, work in
                    try attribute(to: origin, in: table, db, work)
                }
                attempt.withLock { ($0.consequences, $0.removal) = (consequences, removal) }
            },
            check: { db in
                guard var removal = attempt.withLock({ $0.removal }) else { return }
                try removal.check(in: db)
            },
            place: { attempt.withLock { $0.commit } },
            committed: { [watch] in
                let attempt = attempt.withLock { $0 }
                watch.committed(table, attempt.commit, by: origin)
                for consequence in attempt.consequences {
                    watch.committed(consequence.table, consequence.commit, by: consequence.origin)
                }
                return attempt.commit
            },
            isAll: { attempt.withLock { $0.consequences.isEmpty } })
    }

    /// Changes a collection inside of a transaction, and records the origin of the changes in its log.
    ///
    /// - Returns: The place of the changes in the log, `nil` if there is no log.
    private func attribute(
        to origin: StorageOrigin, in table: SQLiteTable, _ db: Database, _ work: () throws -> Void
    ) throws -> StorageCommit? {
        try createAwaitedLog(of: table, in: db)
        return try logs.attribute(to: origin, in: table.log, db, work)
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
            logs.forget()
            bodegaLogger.notice(
                "The change log of a collection could not be created.",
                metadata: ["file": "\(url.path)", "error": "\(error)"])
        }
    }
}
