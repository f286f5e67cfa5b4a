import DequeModule
import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Threads for work that blocks or takes long, such as reading a file and decoding its items.
///
/// Swift's executor has one thread per core, and on Linux libdispatch has, too. Work that occupies these threads keeps
/// all tasks of the program waiting. The threads here compete for the cores as the operating system's scheduler
/// decides, and let other threads run every few milliseconds.
///
///     run ──► idle thread, new one, or `jobs` ──► runs ──► next of `jobs`, or idle ──► ends after a pause
///                                                 ▲ │
///                                                 │ ▼
///                                               waiting
///
/// 1. ``run(_:)`` passes a job to the thread that became idle last. If none is idle, it starts another one, up to the
///    limit. With all threads in use, the job waits in `jobs`.
/// 2. A thread runs a job, and the next one of `jobs`. If there is none, it waits, and ends if no job comes in time.
/// 3. A job that waits for a lock, of another process for example, does so by ``waiting(_:)``. Its thread does not
///    count against the limit in the meantime, so that a job in `jobs` gets another thread.
/// 4. If more threads run than the limit allows, because others no longer wait, the next one to finish its job ends.
///
/// A job may wait for a thread that runs another job, but never for a job that has yet to get a thread: with all
/// threads waiting, that would be a deadlock.
///
/// `state` is guarded by its lock. Whether a ``Worker`` waits is only known to its own thread.
package final class WorkerThreads: Sendable {

    /// The threads of all engines.
    package static let shared = WorkerThreads(limit: 64, maximum: 512, idleTime: 5)

    /// A structure around the closure, which containers would otherwise wrap.
    private struct Job {
        let run: @Sendable () -> Void
    }

    /// A thread that waits for a job.
    ///
    /// @unchecked because the lock of `state` guards the job.
    private final class Idle: @unchecked Sendable {
        let semaphore = ThreadSemaphore(value: 0)
        var job: Job?
    }

    private struct State {
        var jobs = Deque<Job>()
        var threads = 0
        /// The number of threads whose jobs wait.
        var waiting = 0
        var idle: [Idle] = []
    }

    private let limit: Int
    private let maximum: Int
    private let idleTime: TimeInterval
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: The maximum number of threads, without those whose jobs wait.
    ///   - maximum: The maximum number of all threads; `nil` if it is the limit.
    ///   - idleTime: How long, in seconds, a thread waits for a job before it ends.
    init(limit: Int, maximum: Int? = nil, idleTime: TimeInterval) {
        (self.limit, self.maximum, self.idleTime) = (limit, maximum ?? limit, idleTime)
    }

    /// The number of threads.
    var count: Int { state.withLock { $0.threads } }

    /// Runs a closure on one of the threads.
    package func run(_ work: @escaping @Sendable () -> Void) {
        let job = Job(run: work)
        let (thread, isNew) = state.withLock { state -> (Idle?, Bool) in
            if let thread = state.idle.popLast() {
                thread.job = job
                return (thread, false)
            }
            if !canStart(state) {
                state.jobs.append(job)
                return (nil, false)
            }
            state.threads += 1
            return (nil, true)
        }
        thread?.semaphore.signal()
        if isNew { start(with: job) }
    }

    /// Runs a closure on one of the threads, and returns its result.
    package func value<Value: Sendable>(of work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            run { continuation.resume(with: Result { try work() }) }
        }
    }

    private func canStart(_ state: State) -> Bool {
        state.threads - state.waiting < limit && state.threads < maximum
    }

    private func start(with job: Job) {
        // Taken from here when it runs: the thread keeps its closure, and everything in it, until the thread ends.
        let first = Locked<Job?>(job)
        let thread = Thread { [self] in
            Worker(of: self).whileCurrent {
                runFirst(first)
                work()
            }
        }
        thread.name = "emporium.bodega.worker"
        // Callers may be on the main actor.
        thread.qualityOfService = .userInitiated
        // A decoder is recursive. The default of secondary threads on Apple's platforms is 512 KiB.
        thread.stackSize = 8 << 20
        thread.start()
    }

    // MARK: Waiting

    /// Runs a closure that only waits, on any thread. If it is one of these threads, another one can run a job in the
    /// meantime.
    static func waiting<Result>(_ wait: () throws -> Result) rethrows -> Result {
        let waiting = Waiting()
        defer { waiting.end() }
        return try wait()
    }

    /// The time during which a thread waits, from the creation until ``end()``. Both are on the same thread.
    struct Waiting {
        private let worker: Worker?

        init() {
            let worker = Worker.current
            self.worker = worker?.isWaiting == false ? worker : nil
            if let worker = self.worker {
                worker.isWaiting = true
                worker.owner.beginWaiting()
            }
        }

        /// Ends the waiting. Further calls have no effect.
        func end() {
            guard let worker, worker.isWaiting else { return }
            worker.isWaiting = false
            worker.owner.state.withLock { $0.waiting -= 1 }
        }
    }

    private func beginWaiting() {
        let job = state.withLock { state -> Job? in
            state.waiting += 1
            // No thread is idle if there is a job.
            guard canStart(state), let job = state.jobs.popFirst() else { return nil }
            state.threads += 1
            return job
        }
        if let job { start(with: job) }
    }

    // MARK: Threads

    /// What a thread knows of itself.
    private final class Worker {
        let owner: WorkerThreads
        var isWaiting = false

        /// `nil` if the system has no more keys. Then no thread waits without counting against the limit.
        private static let key: pthread_key_t? = {
            var key = pthread_key_t()
            return pthread_key_create(&key, nil) == 0 ? key : nil
        }()

        /// That of the current thread, `nil` if it is another thread.
        static var current: Worker? {
            key.flatMap { pthread_getspecific($0) }.map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
        }

        init(of owner: WorkerThreads) {
            self.owner = owner
        }

        func whileCurrent(_ body: () -> Void) {
            // The caller retains it.
            if let key = Self.key { pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque()) }
            body()
            if let key = Self.key { pthread_setspecific(key, nil) }
        }
    }

    private func runFirst(_ first: Locked<Job?>) {
        let job = first.withLock { first in
            defer { first = nil }
            return first
        }
        if let job { run(job) }
    }

    private func work() {
        while runNext() {}
    }

    /// Waits for a job and runs it. The job is released before the next wait, with what it refers to: an engine closes
    /// its file when the last reference to it is released.
    ///
    /// - Returns: `false` if the thread is to end.
    private func runNext() -> Bool {
        guard let job = nextJob() else { return false }
        run(job)
        return true
    }

    private func run(_ job: Job) {
        #if canImport(ObjectiveC)
        autoreleasepool { job.run() }
        #else
        job.run()
        #endif
    }

    private enum Step { case run(Job), idle, end }

    /// The next job; `nil` if the thread is to end.
    private func nextJob() -> Job? {
        let idle = Idle()
        let step = state.withLock { state -> Step in
            if state.threads - state.waiting > limit {
                state.threads -= 1
                return .end
            }
            if let job = state.jobs.popFirst() { return .run(job) }
            state.idle.append(idle)
            return .idle
        }
        switch step {
        case .run(let job): return job
        case .end: return nil
        case .idle: break
        }
        if idle.semaphore.wait(timeout: .now() + idleTime) == .timedOut {
            let isOver = state.withLock { state in
                guard let place = state.idle.firstIndex(where: { $0 === idle }) else { return false }
                state.idle.remove(at: place)
                state.threads -= 1
                return true
            }
            if isOver { return nil }
            // A job came at the same time.
            idle.semaphore.wait()
        }
        return state.withLock { _ in idle.job }
    }
}
