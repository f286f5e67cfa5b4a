import Bodega

/// Lets one task after the other do something that takes several awaits, in the order in which they have come.
final class AsyncTurn: Sendable {

    private struct State {
        var next = 0
        var current = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Waits for a turn, then runs a closure.
    ///
    /// The turn comes also to a task that has been cancelled; the closure finds out.
    func take<Result: Sendable>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        await withCheckedContinuation { continuation in
            let isNow = state.withLock { state in
                if state.current == number { return true }
                state.waiting[number] = continuation
                return false
            }
            if isNow { continuation.resume() }
        }
        defer { pass() }
        return try await body()
    }

    private func pass() {
        let next = state.withLock { state in
            state.current += 1
            return state.waiting.removeValue(forKey: state.current)
        }
        next?.resume()
    }
}
