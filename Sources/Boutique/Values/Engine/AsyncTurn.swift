import Bodega

/// An asynchronous lock that tasks get in the order of their calls.
///
/// 1. A task takes the next number.
/// 2. If the number is not `current`, the task suspends; its continuation is in `waiting`.
/// 3. When its turn comes, it runs its closure, across any number of suspensions.
/// 4. It increments `current` and resumes the task with that number.
///
/// `state` guards the numbers and the continuations, and is not held while a closure runs.
final class AsyncTurn: Sendable {

    private struct State {
        var next = 0
        var current = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Waits for a turn, then runs a closure.
    ///
    /// A cancelled task waits and runs its closure as well; the closure may check for cancellation.
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
