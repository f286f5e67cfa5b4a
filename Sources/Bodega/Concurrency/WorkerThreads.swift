import DequeModule
import Dispatch
import Foundation

/// Threads for work that blocks or takes long, such as reading a file and decoding its items.
///
/// Swift's executor has one thread per core, and on Linux libdispatch has, too. Work that occupies these threads keeps
/// all tasks of the program waiting. The threads here compete for the cores as the operating system's scheduler
/// decides, and let other threads run every few milliseconds.
///
///     run ──► idle thread, new one, or `jobs` ──► runs ──► next of `jobs`, or idle ──► ends after a pause
///
/// 1. ``run(_:)`` passes a job to the thread that became idle last. If none is idle, it starts another one, up to the
///    limit. With all threads in use, the job waits in `jobs`.
/// 2. A thread runs a job, and the next one of `jobs`. If there is none, it waits, and ends if no job comes in time.
///
/// A job may wait for a thread that runs another job, but never for a job that has yet to get a thread: with all
/// threads waiting, that would be a deadlock.
///
/// `state` is guarded by its lock.
final class WorkerThreads: Sendable {

    /// The threads of all engines.
    static let shared = WorkerThreads(limit: 64, idleTime: 5)

    /// A structure around the closure, which containers would otherwise wrap.
    private struct Job {
        let run: @Sendable () -> Void
    }

    /// A thread that waits for a job.
    ///
    /// @unchecked because the lock of `state` guards the job.
    private final class Idle: @unchecked Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        var job: Job?
    }

    private struct State {
        var jobs = Deque<Job>()
        var threads = 0
        var idle: [Idle] = []
    }

    private let limit: Int
    private let idleTime: TimeInterval
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: The maximum number of threads.
    ///   - idleTime: How long, in seconds, a thread waits for a job before it ends.
    init(limit: Int, idleTime: TimeInterval) {
        (self.limit, self.idleTime) = (limit, idleTime)
    }

    /// The number of threads.
    var count: Int { state.withLock { $0.threads } }

    /// Runs a closure on one of the threads.
    func run(_ work: @escaping @Sendable () -> Void) {
        let job = Job(run: work)
        let (thread, isNew) = state.withLock { state -> (Idle?, Bool) in
            if let thread = state.idle.popLast() {
                thread.job = job
                return (thread, false)
            }
            if state.threads == limit {
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
    func value<Value: Sendable>(of work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            run { continuation.resume(with: Result { try work() }) }
        }
    }

    private func start(with job: Job) {
        let thread = Thread { [self] in
            var next: Job? = job
            while let job = next {
                #if canImport(ObjectiveC)
                autoreleasepool { job.run() }
                #else
                job.run()
                #endif
                next = nextJob()
            }
        }
        thread.name = "emporium.bodega.worker"
        // Callers may be on the main actor.
        thread.qualityOfService = .userInitiated
        // A decoder is recursive. The default of secondary threads on Apple's platforms is 512 KiB.
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// The next job; `nil` if the thread is to end.
    private func nextJob() -> Job? {
        let idle = Idle()
        let waiting = state.withLock { state in
            let job = state.jobs.popFirst()
            if job == nil { state.idle.append(idle) }
            return job
        }
        if let waiting { return waiting }
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
