import Bodega

/// An observer of a collection that could not be opened yet.
final class PendingObserver<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the call; see `Observers`.

    private struct State {
        var call: Observers<Object>.Call?
        var subscription: ObservableCodableStoreSubscription?
    }

    private let state: Locked<State>
    private let identity: Identity<Object.ID>?

    /// - Parameters:
    ///   - identity: The identity of the object that is observed, `nil` for all objects.
    ///   - call: The closure to call with each change, once the observation has begun.
    init(of identity: Identity<Object.ID>?, _ call: @escaping Observers<Object>.Call) {
        self.identity = identity
        state = Locked(State(call: call))
    }

    /// Begins the observation. A no-op if it has begun or ended before.
    func begin(with observers: Observers<Object>) {
        state.withLock { state in
            guard let call = state.call else { return }
            state = State(subscription: observers.add(of: identity, call))
        }
    }

    /// Ends the observation, or prevents it from beginning.
    func end() {
        let subscription = state.withLock { state in
            defer { state = State() }
            return state.subscription
        }
        subscription?.unsubscribe()
    }
}
