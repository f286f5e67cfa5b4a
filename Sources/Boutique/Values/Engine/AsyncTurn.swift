import Bodega

/// Lets one task after the other do something that takes several awaits, in the order in which they have come.
final class AsyncTurn: Sendable {

    /// A place in the queue. It must be used once; those behind it wait.
    struct Ticket: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var next = 0
        var current = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Takes a place in the queue without waiting.
    func ticket() -> Ticket {
        state.withLock { state in
            defer { state.next += 1 }
            return Ticket(number: state.next)
        }
    }

    /// Waits for a turn, then runs a closure.
    ///
    /// The turn comes also to a task that has been cancelled; the closure finds out.
    ///
    /// - Parameter ticket: The place in the queue; its end if it is left out.
    func take<Result: Sendable>(
        _ ticket: Ticket? = nil,
        _ body: @Sendable () async throws -> Result
    ) async rethrows -> Result {
        let number = (ticket ?? self.ticket()).number
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
