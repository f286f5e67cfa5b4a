import DequeModule
import Dispatch
import Foundation

/// Counts the connections that are free for reading, and lets readers wait for one, in the order in which they come:
/// asynchronous ones without holding a thread, others on theirs.
///
/// Whoever is inside must not have to wait for a thread of the pool that tasks run on: those who wait on their thread may
/// hold all of these.
final class ReaderGate: Sendable {

    private struct State {
        var free: Int
        /// What lets those in who wait.
        var waiting = Deque<@Sendable () -> Void>()
    }

    private let count: Int
    private let state: Locked<State>
    /// Held by who keeps the others out: two at once would each wait for the other's places.
    private let keepingOut = NSLock()

    /// - Parameter count: How many readers may be inside at once.
    init(count: Int) {
        self.count = count
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

    /// Enters, after those that came before.
    ///
    /// - Parameter goOn: Is called when that is done, here or by who leaves, and must return soon.
    func enter(then goOn: @escaping @Sendable () -> Void) {
        let mayEnter = state.withLock { state in
            if state.free > 0 {
                state.free -= 1
                return true
            }
            state.waiting.append(goOn)
            return false
        }
        if mayEnter { goOn() }
    }

    /// Enters on the caller's thread, which waits for those that came before.
    func enterWaiting() {
        let mayGoOn = state.withLock { state -> DispatchSemaphore? in
            if state.free > 0 {
                state.free -= 1
                return nil
            }
            let semaphore = DispatchSemaphore(value: 0)
            state.waiting.append { semaphore.signal() }
            return semaphore
        }
        mayGoOn?.wait()
    }

    /// Does something on the caller's thread while nobody is inside, after those inside and those that came before have left.
    ///
    /// - Parameter body: What to do. It must not enter.
    func whileEmpty<Result>(_ body: () throws -> Result) rethrows -> Result {
        try keepingOut.withLock {
            for _ in 0..<count { enterWaiting() }
            defer {
                for _ in 0..<count { leave() }
            }
            return try body()
        }
    }

    /// Leaves, and lets in who waited longest.
    func leave() {
        let letIn = state.withLock { state -> (@Sendable () -> Void)? in
            if let next = state.waiting.popFirst() { return next }
            state.free += 1
            return nil
        }
        letIn?()
    }
}
