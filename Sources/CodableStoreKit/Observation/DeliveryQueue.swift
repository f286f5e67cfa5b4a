import Bodega
import DequeModule

/// Calls observers one after the other, in the order in which their calls were handed in, outside of any lock.
///
/// Whoever has changed something hands in the calls while it holds the lock that puts changes in order, and delivers them
/// when it holds none. One thread at a time delivers; another that comes meanwhile leaves its calls to that one.
final class DeliveryQueue: Sendable {

    private struct State: Sendable {
        var calls = Deque<@Sendable () -> Void>()
        var isDelivering = false
    }

    private let state = Locked(State())

    /// Hands in a call, to be made by the next delivery.
    func enqueue(_ call: @escaping @Sendable () -> Void) {
        state.withLock { $0.calls.append(call) }
    }

    /// Makes the calls that wait, unless another thread, or this one further up, is at it already.
    func deliver() {
        let begins = state.withLock { state in
            if state.isDelivering || state.calls.isEmpty { return false }
            state.isDelivering = true
            return true
        }
        guard begins else { return }
        while let call = next() { call() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let call = state.calls.popFirst()
            if call == nil { state.isDelivering = false }
            return call
        }
    }
}
