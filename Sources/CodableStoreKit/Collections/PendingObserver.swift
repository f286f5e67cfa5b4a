import Bodega

/// An observer of a collection that could not be opened yet.
final class PendingObserver<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the call; see `Observers`.

    private struct State {
        var call: Observers<Object>.Call?
        var subscription: ObservableCodableStoreSubscription?
        var hasEnded = false
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
        let call = state.withLock { state in
            defer { state.call = nil }
            return state.call
        }
        guard let call else { return }
        // Not under the lock, because this can wait for a transaction, in which the observation can be ended.
        let subscription = observers.add(of: identity, call)
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.subscription = subscription }
            return state.hasEnded
        }
        if hasEnded { subscription.unsubscribe() }
    }

    /// Ends the observation, or prevents it from beginning.
    func end() {
        let subscription = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return state.subscription
        }
        subscription?.unsubscribe()
    }
}
