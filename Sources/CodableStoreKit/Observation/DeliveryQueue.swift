import Bodega
import DequeModule

/// Calls observers one at a time, in the order in which the calls were enqueued, without holding a lock.
///
/// 1. Before a change, a writer calls ``begin()``, which counts its operation.
/// 2. While it holds the lock that orders the changes, it calls ``enqueue(_:)``.
/// 3. After releasing that lock, it calls ``end(delivers:)``. If no thread is delivering, this one becomes the
///    delivering thread. Otherwise it returns, and leaves its calls to that thread.
/// 4. The delivering thread makes as many calls as were waiting when it began, its own among them.
/// 5. After these, it continues only while no operation is in progress. Otherwise it leaves the remaining calls to the
///    ends of those operations.
///
/// So continuous changes on other threads do not hold up a thread indefinitely, and when all operations have ended, all
/// calls have been made.
///
/// The lock of `state` guards the calls, the flag and the number of operations. It is not held during a call.
final class DeliveryQueue: Sendable {

    private struct State: Sendable {
        var calls = Deque<@Sendable () -> Void>()
        var isDelivering = false
        /// Operations in progress. Each of them may deliver at its end.
        var operations = 0
    }

    private let state = Locked(State())

    /// Announces an operation that may enqueue calls.
    func begin() {
        state.withLock { $0.operations += 1 }
    }

    /// Enqueues a call.
    func enqueue(_ call: @escaping @Sendable () -> Void) {
        state.withLock { $0.calls.append(call) }
    }

    /// Ends an operation announced with ``begin()``, and makes the waiting calls, unless another thread or a caller of
    /// this method is already doing so.
    ///
    /// - Parameter delivers: Whether to make calls. Pass `false` only if another operation runs on this thread.
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
