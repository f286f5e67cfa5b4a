import DequeModule

/// A lock for asynchronous closures, of which one runs, or a limited number, in the order of their calls.
package final class AsyncLock: Sendable {
    private struct State {
        /// The number of closures that may begin.
        var free: Int
        var number = 0
        var waiting = Deque<(number: Int, continuation: CheckedContinuation<Void, any Error>)>()
    }

    private let state: Locked<State>
    private let ignoresCancellation: Bool

    /// Creates a lock that is free.
    ///
    /// - Parameters:
    ///   - holders: The number of closures that can hold it simultaneously.
    ///   - ignoringCancellation: Whether a cancelled task waits and runs its closure as well, which may check for
    ///     cancellation.
    package init(holders: Int = 1, ignoringCancellation: Bool = false) {
        state = Locked(State(free: holders))
        ignoresCancellation = ignoringCancellation
    }

    /// Whether a closure waits for the lock.
    var hasWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Runs a closure while it holds the lock.
    ///
    /// - Throws: The closure's error, or a `CancellationError` if the task is cancelled while it waits.
    package func withLock<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws -> Value {
        try await acquire()
        defer { release() }
        return try await body()
    }

    private func acquire() async throws {
        let number: Int? = state.withLock { state in
            if state.free > 0, ignoresCancellation || !Task.isCancelled {
                state.free -= 1
                return nil
            }
            state.number += 1
            return state.number
        }
        guard let number else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Bool, CancellationError> = state.withLock { state in
                    if Task.isCancelled, !ignoresCancellation { return .failure(CancellationError()) }
                    if state.free > 0 {
                        state.free -= 1
                        return .success(true)
                    }
                    state.waiting.append((number, continuation))
                    return .success(false)
                }
                switch result {
                case .success(true): continuation.resume()
                case .success(false): break
                case .failure(let error): continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            guard !ignoresCancellation else { return }
            let cancelled = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
            }
            cancelled?.resume(throwing: CancellationError())
        }
    }

    private func release() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.free += 1 }
            return next?.continuation
        }
        next?.resume()
    }
}
