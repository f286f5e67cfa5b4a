import DequeModule
import Foundation
import GRDB
import Logging

/// Lets concurrent writers share a transaction, and with it the wait for the medium.
///
/// Writers hand in their work and wait. Whoever comes while a commit is under way waits for the next one, which takes
/// all that has come meanwhile: the busier it gets, the fewer syncs there are per write. Works are applied in the order
/// in which they came. This is group commit as in DeWitt et al., "Implementation Techniques for Main Memory Database
/// Systems", SIGMOD 1984.
final class SQLiteGroupCommit: Sendable {

    /// Changes the database inside of a transaction that is already open.
    typealias Work = @Sendable (Database) throws -> Void

    private struct Job {
        let work: Work
        /// Called at once when it is committed, in the order of the commits.
        let committed: @Sendable () -> Void
        let finish: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct Waiting {
        var jobs = Deque<Job>()
        var isScheduled = false
    }

    private let pool: DatabasePool
    private let waiting = Locked(Waiting())

    init(pool: DatabasePool) {
        self.pool = pool
    }

    /// Applies a work and returns when it is committed. A work that throws changes nothing.
    ///
    /// - Parameters:
    ///   - work: The work.
    ///   - committed: Is called when it is committed, before the next commit. It must not use the file.
    func commit(_ work: @escaping Work, committed: @escaping @Sendable () -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            submit(Job(work: work, committed: committed) { continuation.resume(with: $0) })
        }
    }

    /// The same on the caller's thread, which waits.
    ///
    /// Every caller takes the writing connection in its turn. Whoever has it works for all that have come, so that most
    /// find their work done when it is theirs.
    func commitHere(_ work: @escaping Work, committed: @escaping @Sendable () -> Void) throws {
        let outcome = Locked<Result<Void, any Error>?>(nil)
        waiting.withLock { waiting in
            waiting.jobs.append(Job(work: work, committed: committed) { result in outcome.withLock { $0 = result } })
        }
        pool.writeWithoutTransaction { db in
            if outcome.withLock({ $0 == nil }) { runWaiting(in: db) }
        }
        try outcome.withLock { $0 }?.get()
    }

    private func submit(_ job: Job) {
        let mustSchedule = waiting.withLock { waiting in
            waiting.jobs.append(job)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if mustSchedule { schedule() }
    }

    /// Commits the next group when the writing connection is free. Each group queues anew, so that others who need the
    /// connection get their turn.
    private func schedule() {
        pool.asyncWriteWithoutTransaction { db in
            self.runWaiting(in: db)
            let isMoreWaiting = self.waiting.withLock { waiting in
                waiting.isScheduled = !waiting.jobs.isEmpty
                return waiting.isScheduled
            }
            if isMoreWaiting { self.schedule() }
        }
    }

    /// How many writes wait for the next commit.
    var waitingCount: Int { waiting.withLock { $0.jobs.count } }

    /// Commits on the caller's thread all that was handed in before.
    func commitWaiting() {
        pool.writeWithoutTransaction { db in runWaiting(in: db) }
    }

    /// Commits all that waits.
    private func runWaiting(in db: Database) {
        let group = waiting.withLock { waiting in
            defer { waiting.jobs = [] }
            return waiting.jobs
        }
        // Somebody who waits for it himself may have been here.
        if !group.isEmpty { Self.run(group, in: db) }
    }

    private static func run(_ jobs: Deque<Job>, in db: Database) {
        let outcome = Result {
            try db.beginTransaction(.immediate)
            do {
                try SQLiteFile.checkPlace(in: db)
                for job in jobs { try job.work(db) }
                try db.commit()
            } catch {
                let limit = StorageError.limitReached(error)
                // SQLite has ended the transaction by itself after some errors.
                if db.isInsideTransaction { try db.rollback() }
                throw limit ?? error
            }
        }
        if case .failure(let error) = outcome, jobs.count > 1, (error as? DatabaseError)?.resultCode != .SQLITE_BUSY {
            // Nothing of the group is committed now. One after the other, each gets its own outcome. Not so when the
            // database is locked: then each of them would wait in vain for as long as the group did.
            bodegaLogger.debug(
                "A shared commit failed, so each write gets one of its own.",
                metadata: ["writes": "\(jobs.count)", "error": "\(error)"]
            )
            for job in jobs { run([job], in: db) }
        } else {
            if case .success = outcome {
                for job in jobs { job.committed() }
            }
            for job in jobs { job.finish(outcome) }
        }
    }
}
