import Bodega

/// An observer of a collection that could not be opened yet.
final class PendingObserver<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the call, which `Observers` answers for.

    private struct State {
        var call: Observers<Object>.Call?
        var subscription: ObservableCodableStoreSubscription?
    }

    private let state: Locked<State>

    /// - Parameter call: What is called with each change, once it has begun.
    init(_ call: @escaping Observers<Object>.Call) {
        state = Locked(State(call: call))
    }

    /// Observes from now on, unless it has begun or was ended before.
    func begin(with observers: Observers<Object>) {
        state.withLock { state in
            guard let call = state.call else { return }
            state = State(subscription: observers.add(call))
        }
    }

    /// Ends the observation, also one that has not begun.
    func end() {
        let subscription = state.withLock { state in
            defer { state = State() }
            return state.subscription
        }
        subscription?.unsubscribe()
    }
}
