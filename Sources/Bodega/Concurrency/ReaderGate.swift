import DequeModule
import Dispatch
import Foundation

/// Counts the connections that are free for reading, and lets readers wait for one.
///
/// A place inside is only ever taken by a thread that reads. If asynchronous readers took places before they had a thread,
/// synchronous ones could wait for these places on all the threads that there are, and none would ever be left:
///
///     synchronous   thread ── enterWaiting ─┐
///     asynchronous  thread ── tryEnter ─────┤ a place ── reads ── leave
///     asynchronous  list ── worker thread ──┘
///
/// There are at most as many workers as places, each on a thread of the queue, and only as long as the list is not empty.
final class ReaderGate: Sendable {

    /// Reads, and returns what continues the reader's task when the place is free again: that may have to wait for a
    /// thread.
    typealias Read = @Sendable () -> @Sendable () -> Void

    private struct State {
        var free: Int
        /// The threads that wait for a place.
        var waiting = Deque<DispatchSemaphore>()
        /// The asynchronous readers that no worker has taken yet.
        var list = Deque<Read>()
        var workers = 0
        /// The number of readers that have left to enter again.
        var returning = 0

        /// Takes a place, or gets in line for one.
        ///
        /// - Returns: What to wait for.
        mutating func enter() -> DispatchSemaphore? {
            if free > 0 {
                free -= 1
                return nil
            }
            let semaphore = DispatchSemaphore(value: 0)
            waiting.append(semaphore)
            return semaphore
        }
    }

    private let count: Int
    private let queue: DispatchQueue
    private let state: Locked<State>
    /// Held by the caller that keeps readers out: two callers would each wait for the other's places.
    private let keepingOut = NSLock()

    /// - Parameters:
    ///   - count: How many readers may be inside simultaneously.
    ///   - queue: Where asynchronous readers read; it runs closures concurrently.
    init(count: Int, queue: DispatchQueue) {
        self.count = count
        self.queue = queue
        state = Locked(State(free: count))
    }

    /// Enters if that is possible now.
    func tryEnter() -> Bool {
        state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
    }

    /// Enters on a thread of the queue, after those that called this before.
    ///
    /// - Parameter read: Is called inside.
    func enterLater(_ read: @escaping Read) {
        let needsWorker = state.withLock { state in
            state.list.append(read)
            if state.workers == count { return false }
            state.workers += 1
            return true
        }
        if needsWorker { queue.async { while self.carryOutNext(isWorker: true) {} } }
    }

    /// Leaves, to enter again on a thread of the queue. The reader counts as inside for ``whileEmpty(_:)``.
    ///
    /// - Parameter read: Is called inside.
    func returnLater(_ read: @escaping Read) {
        state.withLock { $0.returning += 1 }
        enterLater { [state] in
            defer { state.withLock { $0.returning -= 1 } }
            return read()
        }
        leave()
    }

    /// Lets the next of the list read on this thread.
    ///
    /// - Returns: `false` if the list is empty, which ends a worker.
    private func carryOutNext(isWorker: Bool) -> Bool {
        // Taken from the list and put in line in one step, so that `whileEmpty` finds it in either.
        let next = state.withLock { state -> (read: Read, mayEnter: DispatchSemaphore?)? in
            guard let read = state.list.popFirst() else {
                if isWorker { state.workers -= 1 }
                return nil
            }
            return (read, state.enter())
        }
        guard let (read, mayEnter) = next else { return false }
        mayEnter?.wait()
        let goOn = read()
        leave()
        goOn()
        return true
    }

    /// Enters on the caller's thread, which waits for those that came before.
    func enterWaiting() {
        state.withLock { $0.enter() }?.wait()
    }

    /// Does something on the caller's thread while no reader is inside, after the readers that came before have left.
    ///
    /// - Parameter body: What to do. It must not enter.
    func whileEmpty<Result>(_ body: () throws -> Result) rethrows -> Result {
        try keepingOut.withLock {
            takeAll()
            while state.withLock({ $0.returning > 0 }) {
                leaveAll()
                takeAll()
            }
            defer { leaveAll() }
            return try body()
        }
    }

    private func takeAll() {
        // Those in the list are in line, too. Workers may have to wait for a thread, so this does not wait for them.
        let listed = state.withLock { $0.list.count }
        for _ in 0..<listed where !carryOutNext(isWorker: false) { break }
        for _ in 0..<count { enterWaiting() }
    }

    private func leaveAll() {
        for _ in 0..<count { leave() }
    }

    /// Leaves, and lets in the reader that waited longest.
    func leave() {
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.free += 1 }
            return state.waiting.popFirst()
        }
        next?.signal()
    }
}
