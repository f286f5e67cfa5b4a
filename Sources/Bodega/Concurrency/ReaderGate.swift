import DequeModule
import Dispatch
import Foundation

/// A counting gate that limits concurrent readers, such as to the number of connections for reading.
///
///     synchronous   thread ── enterWaiting ────┐
///     asynchronous  thread ── tryEnter ────────┤ a place ── reads ── leave
///     asynchronous  pending ── worker thread ──┘
///
/// 1. A synchronous reader takes a free place on its own thread, or appends a semaphore to `waiting` and blocks.
/// 2. An asynchronous reader appends its closure to `pending` and starts a worker on one of the ``WorkerThreads``,
///    unless there are as many workers as places.
/// 3. A worker takes a closure from `pending`, gets a place as in 1, runs the closure, leaves, and resumes the reader's
///    task. It repeats this until `pending` is empty, and ends.
/// 4. A reader that leaves passes its place to the first semaphore in `waiting`, or frees it.
/// 5. A caller of ``whileEmpty(_:)`` takes `exclusion`, runs the pending readers, and then takes all places as in 1.
///
/// `state` is guarded by its lock, which is never held while a reader waits or reads.
///
/// Only a reader that has a thread takes a place. If asynchronous readers took places before they had a thread,
/// synchronous readers could block all threads waiting for these places: a deadlock.
final class ReaderGate: Sendable {

    /// Reads, and returns a closure that resumes the reader's task. It is called after the reader has left, because it
    /// may have to wait for a thread.
    typealias Read = @Sendable () -> @Sendable () -> Void

    private struct State {
        var free: Int
        /// The semaphores of the threads that wait for a place.
        var waiting = Deque<ThreadSemaphore>()
        /// The asynchronous readers that no worker has taken yet.
        var pending = Deque<Read>()
        var workers = 0
        /// The number of readers that have left to enter again.
        var returning = 0

        /// Takes a place, or queues for one.
        ///
        /// - Returns: The semaphore to wait for, `nil` if a place was taken.
        mutating func enter() -> ThreadSemaphore? {
            if free > 0 {
                free -= 1
                return nil
            }
            let semaphore = ThreadSemaphore(value: 0)
            waiting.append(semaphore)
            return semaphore
        }
    }

    private let count: Int
    private let threads: WorkerThreads
    private let state: Locked<State>
    /// Held during ``whileEmpty(_:)``: two concurrent callers would each wait for the other's places.
    private let exclusion = NSLock()

    private let emptied: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - count: How many readers may be inside simultaneously.
    ///   - threads: The threads of the workers.
    ///   - emptied: Called when the last reader has left, on its thread. It must return quickly.
    init(count: Int, threads: WorkerThreads = .shared, emptied: (@Sendable () -> Void)? = nil) {
        self.count = count
        self.threads = threads
        self.emptied = emptied
        state = Locked(State(free: count))
    }

    /// Enters if a place is free.
    func tryEnter() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    /// Enters on a worker's thread, after earlier callers of this method.
    ///
    /// - Parameter read: Is called inside the gate.
    func schedule(_ read: @escaping Read) {
        let needsWorker = state.withLock { state in
            state.pending.append(read)
            if state.workers == count { return false }
            state.workers += 1
            return true
        }
        if needsWorker { threads.run { while self.runNext(isWorker: true) {} } }
    }

    /// Leaves, and enters again on a worker's thread. For ``whileEmpty(_:)``, the reader stays inside.
    ///
    /// - Parameter read: Is called inside the gate.
    func reschedule(_ read: @escaping Read) {
        state.withLock { $0.returning += 1 }
        schedule { [state] in
            defer { state.withLock { $0.returning -= 1 } }
            return read()
        }
        leave()
    }

    /// Runs the next pending reader on this thread.
    ///
    /// - Returns: `false` if no reader is pending, which ends a worker.
    private func runNext(isWorker: Bool) -> Bool {
        // Moved from `pending` to `waiting` in one step, so that `whileEmpty` finds the reader in one of them.
        let next = state.withLock { state -> (read: Read, place: ThreadSemaphore?)? in
            guard let read = state.pending.popFirst() else {
                if isWorker { state.workers -= 1 }
                return nil
            }
            return (read, state.enter())
        }
        guard let (read, place) = next else { return false }
        if let place { WorkerThreads.waiting { place.wait() } }
        let resume = read()
        leave()
        resume()
        return true
    }

    /// Enters on the caller's thread, after blocking it until the readers before it have entered.
    func enterWaiting() {
        if let place = state.withLock({ $0.enter() }) { WorkerThreads.waiting { place.wait() } }
    }

    /// Runs a closure on the caller's thread while no reader is inside, after earlier readers have left.
    ///
    /// - Parameter body: The closure. It must not enter the gate.
    func whileEmpty<Result>(_ body: () throws -> Result) rethrows -> Result {
        try exclusion.withLock {
            takeAll()
            while state.withLock({ $0.returning > 0 }) {
                leaveAll()
                takeAll()
            }
            defer { leaveAll() }
            return try body()
        }
    }

    /// Runs a closure on the caller's thread while no reader is inside, if the readers inside leave in time. Readers
    /// that come in the meantime wait.
    ///
    /// - Parameters:
    ///   - patience: How long to wait for the readers inside.
    ///   - body: The closure. It must not enter the gate.
    /// - Returns: `nil` if they did not leave in time, or if the gate is used exclusively.
    func tryWhileEmpty<Result>(within patience: DispatchTimeInterval, _ body: () throws -> Result) rethrows -> Result? {
        guard exclusion.try() else { return nil }
        defer { exclusion.unlock() }
        let deadline = DispatchTime.now() + patience
        var taken = 0
        defer { for _ in 0..<taken { leave(isReader: false) } }
        while taken < count, enter(before: deadline) { taken += 1 }
        return taken == count ? try body() : nil
    }

    /// Enters on the caller's thread, after the readers before it have entered.
    ///
    /// - Returns: `false` if that takes too long.
    private func enter(before deadline: DispatchTime) -> Bool {
        guard let semaphore = state.withLock({ $0.enter() }), semaphore.wait(timeout: deadline) == .timedOut else {
            return true
        }
        // Otherwise the place was passed on in the meantime.
        return state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0 === semaphore }) else { return true }
            state.waiting.remove(at: index)
            return false
        }
    }

    private func takeAll() {
        // Pending readers come first. They run here, because their workers may have to wait for a thread.
        let pending = state.withLock { $0.pending.count }
        for _ in 0..<pending where !runNext(isWorker: false) { break }
        for _ in 0..<count { enterWaiting() }
    }

    private func leaveAll() {
        for _ in 0..<count { leave(isReader: false) }
    }

    /// Leaves, and passes the place to the reader that has waited longest.
    func leave() {
        leave(isReader: true)
    }

    private func leave(isReader: Bool) {
        let (next, isEmpty) = state.withLock { state in
            if state.waiting.isEmpty { state.free += 1 }
            return (state.waiting.popFirst(), state.free == count)
        }
        next?.signal()
        if isReader, isEmpty { emptied?() }
    }
}
