import Bodega
import DequeModule

/// Calls observers one after the other, in the order in which their calls were handed in, outside of any lock.
///
/// Whoever is about to change something says so with ``begin()``, hands in the calls while it holds the lock that puts
/// changes in order, and makes them with ``end(delivers:)`` when it holds none. One thread at a time makes calls; another
/// that comes meanwhile leaves its own to that one.
///
/// A thread makes the calls that wait when it begins, its own among them. Behind these it goes on only as long as nobody
/// else is about to change something; otherwise it leaves the rest to them. So nobody is kept for as long as others go on
/// changing things, and when all have returned, all calls have been made.
final class DeliveryQueue: Sendable {

    private struct State: Sendable {
        var calls = Deque<@Sendable () -> Void>()
        var isDelivering = false
        // Each of them comes to the calls at its end.
        var operations = 0
    }

    private let state = Locked(State())

    /// Announces an operation that may hand in calls.
    func begin() {
        state.withLock { $0.operations += 1 }
    }

    /// Hands in a call.
    func enqueue(_ call: @escaping @Sendable () -> Void) {
        state.withLock { $0.calls.append(call) }
    }

    /// Ends what ``begin()`` has announced, and makes the calls that wait, unless another thread, or this one further up, is
    /// at it already.
    ///
    /// - Parameter delivers: Whether calls may be made here. If not, another operation must be under way on this thread.
    func end(delivers: Bool = true) {
        var bound = state.withLock { state -> Int? in
            state.operations -= 1
            if !delivers || state.isDelivering || state.calls.isEmpty { return nil }
            state.isDelivering = true
            return state.calls.count
        }
        while let rest = bound, let call = next(isBound: rest > 0) {
            call()
            bound = rest - 1
        }
    }

    private func next(isBound: Bool) -> (@Sendable () -> Void)? {
        state.withLock { state in
            let call = isBound || state.operations == 0 ? state.calls.popFirst() : nil
            if call == nil { state.isDelivering = false }
            return call
        }
    }
}
