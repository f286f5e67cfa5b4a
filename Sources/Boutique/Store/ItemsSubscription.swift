import Bodega
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// One subscriber of a store's items.
///
/// It holds no items: what is published is read from the store at the moment of publishing, because a second reference
/// to the array would make the next change copy it.
final class ItemsSubscription<Item: StorableItem>: Subscription, @unchecked Sendable {
    // @unchecked because the subscriber is only called on the main actor, and a lock guards the rest.

    private struct State {
        typealias Parties = (model: StoreModel<Item>, subscriber: AnySubscriber<[Item], Never>)

        /// Who publishes to whom; `nil` after it was cancelled, so that nothing is kept alive any longer.
        var parties: Parties?
        var demand = Subscribers.Demand.none
        /// Whether there is something new that was not asked for yet.
        var isBehind = true
    }

    private let state: Locked<State>

    init(_ subscriber: AnySubscriber<[Item], Never>, to model: StoreModel<Item>) {
        state = Locked(State(parties: (model, subscriber)))
    }

    /// Publishes the current items and those to come.
    @MainActor func begin() {
        guard let model = state.withLock({ $0.parties?.model }) else { return }
        model.add(self)
        publish()
    }

    /// Publishes the current items if they were asked for, else as soon as they are.
    @MainActor func publish() {
        state.withLock { $0.isBehind = true }
        publishIfBehind()
    }

    @MainActor private func publishIfBehind() {
        let parties = state.withLock { state in
            guard state.isBehind, state.demand > .none, let parties = state.parties else {
                return nil as State.Parties?
            }
            state.isBehind = false
            state.demand -= 1
            return parties
        }
        guard let (model, subscriber) = parties else { return }
        let more = subscriber.receive(model.contents.items)
        state.withLock { $0.demand += more }
    }

    func request(_ demand: Subscribers.Demand) {
        state.withLock { $0.demand += demand }
        // While it begins, nothing is published from here: it is the subscriber who calls.
        onMainActor {
            if self.state.withLock({ $0.parties?.model })?.has(self) == true { self.publishIfBehind() }
        }
    }

    func cancel() {
        let parties = state.withLock { state in
            defer { state.parties = nil }
            return state.parties
        }
        guard let model = parties?.model else { return }
        onMainActor { model.remove(self) }
    }
}
