import Bodega
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// The subscription of one subscriber to a store's items.
///
/// A subscription holds no items, because a second reference to the array would make the next change copy it. It reads
/// the items from the model when it publishes them.
final class ItemsSubscription<Item: StorableItem>: Subscription, @unchecked Sendable {
    // @unchecked because the subscriber is only called on the main actor, and a lock guards the rest.

    private struct State {
        typealias Connection = (model: StoreModel<Item>, subscriber: AnySubscriber<[Item], Never>)

        /// The model and the subscriber. `nil` after a cancellation, so that the subscription keeps neither alive.
        var connection: Connection?
        var demand = Subscribers.Demand.none
        /// Whether the latest items have not been published yet, for lack of demand.
        var hasUnpublishedItems = true
    }

    private let state: Locked<State>

    init(_ subscriber: AnySubscriber<[Item], Never>, to model: StoreModel<Item>) {
        state = Locked(State(connection: (model, subscriber)))
    }

    /// Publishes the current items, and later items after each change.
    @MainActor func begin() {
        guard let model = state.withLock({ $0.connection?.model }) else { return }
        model.add(self)
        publish()
    }

    /// Publishes the current items, or if there is no demand, the latest items as soon as there is.
    @MainActor func publish() {
        state.withLock { $0.hasUnpublishedItems = true }
        publishIfNeeded()
    }

    @MainActor private func publishIfNeeded() {
        let connection = state.withLock { state in
            guard state.hasUnpublishedItems, state.demand > .none, let connection = state.connection else {
                return nil as State.Connection?
            }
            state.hasUnpublishedItems = false
            state.demand -= 1
            return connection
        }
        guard let (model, subscriber) = connection else { return }
        let more = subscriber.receive(model.contents.items)
        state.withLock { $0.demand += more }
    }

    func request(_ demand: Subscribers.Demand) {
        state.withLock { $0.demand += demand }
        // During begin(), the subscriber itself makes this call, and begin() publishes afterwards.
        onMainActor {
            if self.state.withLock({ $0.connection?.model })?.has(self) == true { self.publishIfNeeded() }
        }
    }

    func cancel() {
        let connection = state.withLock { state in
            defer { state.connection = nil }
            return state.connection
        }
        guard let model = connection?.model else { return }
        onMainActor { model.remove(self) }
    }
}
