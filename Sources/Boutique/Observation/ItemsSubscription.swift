import Bodega

/// Items on the main actor to which subscribers can subscribe.
@MainActor
protocol ItemsSource<Item>: AnyObject, Sendable {
    associatedtype Item: Sendable

    /// The current items. Observers do not track this access.
    var latestItems: [Item] { get }

    /// Starts publishing the items to a subscriber after each change.
    func add(_ subscription: ItemsSubscription<Item>)
}

/// A publisher of the items of a source, see ``StoreItems/Publisher``.
struct ItemsPublisher<Item: Sendable>: Publisher {
    typealias Output = [Item]
    typealias Failure = Never

    let source: any ItemsSource<Item>

    func receive<S: Subscriber>(subscriber: S) where S.Input == [Item], S.Failure == Never {
        let subscription = ItemsSubscription(AnySubscriber(subscriber), to: source)
        subscriber.receive(subscription: subscription)
        onMainActor { subscription.begin() }
    }
}

/// The subscription of one subscriber to the items of a source.
///
/// A subscription holds no items, because a second reference to the array would make the next change copy it. It reads
/// the items from their source when it publishes them.
final class ItemsSubscription<Item: Sendable>: Subscription, @unchecked Sendable {
    // @unchecked because the subscriber is only called on the main actor, and a lock guards the rest.

    private struct State {
        typealias Connection = (source: any ItemsSource<Item>, subscriber: AnySubscriber<[Item], Never>)

        /// The source and the subscriber. `nil` after a cancellation, so that the subscription keeps neither alive.
        var connection: Connection?
        var demand = Subscribers.Demand.none
        var hasBegun = false
        /// Whether the latest items have not been published yet, for lack of demand.
        var hasUnpublishedItems = true
    }

    private let state: Locked<State>

    init(_ subscriber: AnySubscriber<[Item], Never>, to source: any ItemsSource<Item>) {
        state = Locked(State(connection: (source, subscriber)))
    }

    /// Whether the subscriber receives no more items.
    var isCancelled: Bool { state.withLock { $0.connection == nil } }

    /// Publishes the current items, and later items after each change.
    @MainActor func begin() {
        guard let source = state.withLock({ $0.connection?.source }) else { return }
        source.add(self)
        state.withLock { $0.hasBegun = true }
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
        guard let (source, subscriber) = connection else { return }
        let more = subscriber.receive(source.latestItems)
        state.withLock { $0.demand += more }
    }

    func request(_ demand: Subscribers.Demand) {
        state.withLock { $0.demand += demand }
        // During begin(), the subscriber itself makes this call, and begin() publishes afterwards.
        onMainActor {
            if self.state.withLock({ $0.hasBegun }) { self.publishIfNeeded() }
        }
    }

    func cancel() { _ = end() }

    /// Ends the subscription with its source.
    @MainActor func finish() { end()?.subscriber.receive(completion: .finished) }

    private func end() -> State.Connection? { state.withLock { $0.connection.take() } }
}
