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
    func commit(_ work: @escaping Work) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            submit(Job(work: work) { continuation.resume(with: $0) })
        }
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
            let group = self.waiting.withLock { waiting in
                defer { waiting.jobs = [] }
                return waiting.jobs
            }
            Self.run(group, in: db)
            let isMoreWaiting = self.waiting.withLock { waiting in
                waiting.isScheduled = !waiting.jobs.isEmpty
                return waiting.isScheduled
            }
            if isMoreWaiting { self.schedule() }
        }
    }

    private static func run(_ jobs: Deque<Job>, in db: Database) {
        let outcome = Result {
            try db.beginTransaction(.immediate)
            do {
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
            for job in jobs { job.finish(outcome) }
        }
    }
}
