import DequeModule
import Foundation
import GRDB

/// Lets concurrent writers share a transaction, and with it the wait for the disk.
///
/// 1. Writers append their jobs to `waiting`, on any thread, and wait.
/// 2. An asynchronous writer that finds no commit scheduled schedules one, which waits for the writing connection on
///    one of the ``WorkerThreads``. A synchronous writer always waits for the connection on its own thread.
/// 3. The next one to get the connection takes all jobs from `waiting`, also those of other writers, and applies them
///    in their order in one transaction. In the meantime, new jobs wait for the next transaction: the busier the file
///    is, the fewer syncs there are per write.
/// 4. After the commit, it calls `committed` of each job, in order, on the connection, before the next transaction.
/// 5. It resumes the writers. If more jobs are waiting, the scheduled commit schedules the next one (step 3), so that
///    others can use the connection in between.
/// 6. If a shared transaction fails, it is rolled back, and each job gets a transaction of its own.
/// 7. A writer that reads and decides in its transaction, on its own thread, does not share it. It waits for the
///    connection like a synchronous writer, and leaves the jobs of `waiting` to their own writers.
/// 8. A suspension interrupts step 3, but not the commit. All jobs that are not committed fail, also those that wait,
///    and their writers submit them again after it, to another one of these.
///
/// So one thread at most waits for the lock that another program holds, however many asynchronous writers there are.
///
/// `waiting` guards the jobs and whether a commit is scheduled. The writing connection serializes steps 3 to 6.
///
/// This is group commit as in DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984.
final class SQLiteGroupCommit: Sendable {

    /// Changes the database inside of a transaction that is already open.
    typealias Work = @Sendable (Database) throws -> Void

    private struct Job {
        let work: Work
        /// Called when the job is committed, in the order of the commits.
        let committed: @Sendable () -> Void
        let finish: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct Waiting {
        var jobs = Deque<Job>()
        var isScheduled = false
        /// Whether jobs fail because the connections are closed.
        var isEnded = false
    }

    private let waiting = Locked(Waiting())
    let place: SQLiteFileIdentity
    private let committed: @Sendable () -> Void

    /// - Parameters:
    ///   - place: The file's place, which is checked in each transaction.
    ///   - committed: Called on the writing connection after each group of jobs.
    init(at place: SQLiteFileIdentity, committed: @escaping @Sendable () -> Void) {
        self.place = place
        self.committed = committed
    }

    /// Runs a closure in a transaction and returns when it is committed. A closure that throws changes nothing.
    ///
    /// - Parameters:
    ///   - writer: The writing connection.
    ///   - work: The closure. It may run more than once.
    ///   - committed: Called after the commit, before the next one. It must not use the file.
    func commit(on writer: DatabaseQueue, _ work: @escaping Work, committed: @escaping @Sendable () -> Void)
        async throws
    {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            submit(Job(work: work, committed: committed) { continuation.resume(with: $0) }, to: writer)
        }
    }

    /// The blocking form of ``commit(on:_:committed:)``.
    ///
    /// Every caller waits for the writing connection. The one that gets it works for all callers that wait, so that
    /// most of them find their work done when they get it.
    func blockingCommit(
        on writer: DatabaseQueue, _ work: @escaping Work, committed: @escaping @Sendable () -> Void
    ) throws {
        let outcome = Locked<Result<Void, any Error>?>(nil)
        try waiting.withLock { waiting in
            if waiting.isEnded { throw StorageError.suspended }
            waiting.jobs.append(Job(work: work, committed: committed) { result in outcome.withLock { $0 = result } })
        }
        writer.writeWithoutTransaction { db in
            if outcome.withLock({ $0 == nil }) { runWaiting(in: db) }
        }
        guard let outcome = outcome.withLock({ $0 }) else {
            // No other thread has run it: `end()` has taken it, and is about to report that.
            throw StorageError.suspended
        }
        try outcome.get()
    }

    /// Runs a closure in a transaction of its own, on the caller's thread, and returns when it is committed. A closure
    /// that throws changes nothing.
    ///
    /// - Parameters:
    ///   - writer: The writing connection.
    ///   - work: The closure. It runs at most once.
    ///   - committed: Called with its result after the commit, before the next one. It must not use the file.
    func blockingTransaction<Value>(
        on writer: DatabaseQueue, _ work: (Database) throws -> Value, committed: (Value) -> Void
    ) throws -> Value {
        try writer.writeWithoutTransaction { db in
            if waiting.withLock({ $0.isEnded }) { throw StorageError.suspended }
            let value = try transact(in: db) {
                let value = try work(db)
                // The closure may have taken long.
                try place.check()
                return value
            }
            committed(value)
            self.committed()
            return value
        }
    }

    private func submit(_ job: Job, to writer: DatabaseQueue) {
        let mustSchedule = waiting.withLock { waiting -> Bool? in
            if waiting.isEnded { return nil }
            waiting.jobs.append(job)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        guard let mustSchedule else { return job.finish(.failure(StorageError.suspended)) }
        if mustSchedule { schedule(on: writer) }
    }

    /// Commits the next group when the writing connection is free. Each group waits for the connection again, so that
    /// other users of the connection get it in between.
    private func schedule(on writer: DatabaseQueue) {
        WorkerThreads.shared.run {
            writer.writeOnWorker { db in self.runWaiting(in: db) }
            let isMoreWaiting = self.waiting.withLock { waiting in
                waiting.isScheduled = !waiting.jobs.isEmpty
                return waiting.isScheduled
            }
            if isMoreWaiting { self.schedule(on: writer) }
        }
    }

    /// The number of writes that wait for the next commit.
    var waitingCount: Int { waiting.withLock { $0.jobs.count } }

    /// Lets all jobs fail that wait or come later, because a suspension closes the connections.
    func end() {
        let jobs = waiting.withLock { waiting in
            waiting.isEnded = true
            defer { waiting.jobs = [] }
            return waiting.jobs
        }
        for job in jobs { job.finish(.failure(StorageError.suspended)) }
    }

    /// Commits all waiting jobs, blocking the caller.
    func commitWaiting(on writer: DatabaseQueue) {
        writer.writeOnWorker { db in runWaiting(in: db) }
    }

    /// Commits all waiting jobs.
    private func runWaiting(in db: Database) {
        let group = waiting.withLock { waiting in
            defer { waiting.jobs = [] }
            return waiting.jobs
        }
        // A synchronous writer may have committed them.
        if group.isEmpty { return }
        run(group, in: db)
        committed()
    }

    private func run(_ jobs: Deque<Job>, in db: Database) {
        let errors = errors(inBatch: Array(jobs)) { jobs in
            try commit(jobs, in: db)
            for job in jobs { job.committed() }
        }
        for (job, error) in zip(jobs, errors) { job.finish(error.map(Result.failure) ?? .success(())) }
    }

    private func commit(_ jobs: [Job], in db: Database) throws {
        try transact(in: db) { for job in jobs { try job.work(db) } }
    }

    private func transact<Value>(in db: Database, _ work: () throws -> Value) throws -> Value {
        do {
            try LockHolders.shared.check()
            try db.beginTransaction(.immediate)
            try place.check()
            let value = try work()
            // The work may have gone on after a part of it was interrupted.
            try LockHolders.shared.check()
            try db.commit()
            return value
        } catch {
            let limit = StorageError.limitReached(error)
            try db.endTransaction()
            // Determined here, because a suspension can't be complete before.
            if LockHolders.shared.areSuspended, (error as? DatabaseError)?.isOfSuspension == true {
                throw StorageError.suspended
            }
            throw limit ?? error
        }
    }
}
