import DequeModule

/// Counts the connections that are free for reading, and lets readers wait for one without holding a thread.
final class ReaderGate: Sendable {

    private struct State {
        var free: Int
        var waiting = Deque<CheckedContinuation<Void, Never>>()
    }

    private let state: Locked<State>

    /// - Parameter count: How many readers may be inside at once.
    init(count: Int) {
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

    /// Enters, after waiting for those that came before.
    func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayEnter { continuation.resume() }
        }
    }

    /// Leaves, and lets in who waited longest.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if let next = state.waiting.popFirst() { return next }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
