import Bodega

/// The items of a store or a window on the main actor, and their observers.
///
/// A subclass decides what changes. It shows each change in one cycle without suspending, a ``ShownChange``:
///
/// 1. Announce the change to `objectWillChange`, let event streams drop waiting snapshots of many items, and announce
///    the change to the Observation framework.
/// 2. Replace the items and the state.
/// 3. Notify the Observation framework.
/// 4. Publish the items to the subscribers of `$items`, once for the change, however many operations it has.
/// 5. Hand the events to the event streams.
///
/// The main actor guards all state. Observers are called synchronously. An event stream that an observer creates in the
/// first step begins with a snapshot that is taken when it is read; one that is created later, with the new items.
@MainActor
class ObservedItems<Contents: ObservedContents, Event: SubscribedEvent> where Contents.Item == Event.Item {

    /// The items.
    final var contents: Contents
    /// The loading state.
    final var state: StoreState { didSet { if state.isLoaded { hasLoaded = true } } }
    /// Whether the items were loaded once. They stay, also if the engine can't be read later.
    private(set) final var hasLoaded: Bool

    /// Emits before each change, for observers of the owner as an object.
    final nonisolated let objectChanges = ObjectChanges()
    final let itemsPoint = ObservationPoint()
    final let statePoint = ObservationPoint()

    /// Whether a change is announced, so that a reader may still see the state before it.
    private final var isChanging = false
    private final var subscriptions: [ItemsSubscription<Contents.Item>] = []
    private final var eventReaders: [Weak<EventSubscription<Event>>] = []

    nonisolated init(_ contents: Contents, _ state: StoreState) {
        self.contents = contents
        self.state = state
        hasLoaded = state.isLoaded
    }

    deinit {
        // Many items take long to free, and the last reference is often released on the main actor.
        if contents.count > 0 { Task.detached { [contents] in _ = contents } }
    }

    /// The items. Observers track this access.
    final var items: [Contents.Item] {
        itemsPoint.access()
        return contents.items
    }

    /// The state. Observers track this access.
    final var observedState: StoreState {
        statePoint.access()
        return state
    }

    // MARK: Showing

    /// Shows a new state.
    final func show(_ newState: StoreState) {
        objectChanges.publisher.send()
        statePoint.willChange()
        state = newState
        statePoint.didChange()
    }

    /// Returns a change of what some points track.
    ///
    /// - Parameters:
    ///   - points: The points.
    ///   - publishes: Whether the items are published.
    ///   - announce: Announces it to further observers.
    ///   - notify: Notifies further observers.
    ///   - make: Makes the change, and returns its events if there are readers.
    final func change(
        _ points: [ObservationPoint], publishes: Bool, announce: @escaping @MainActor () -> Void = {},
        notify: @escaping @MainActor () -> Void = {}, _ make: @escaping @MainActor (_ reportsEvents: Bool) -> [Event]
    ) -> ShownChange {
        let cycle = ChangeCycle<Event>()
        return ShownChange { [self] in
            isChanging = true
            // An operation that changes nothing is still an event.
            if !points.isEmpty { objectChanges.publisher.send() }
            cycle.readers = readers()
            for reader in cycle.readers { reader.prepareForChange(itemsInStore: contents.count) }
            for point in points { point.willChange() }
            announce()
        } make: { [self] in
            cycle.events = make(!cycle.readers.isEmpty)
            isChanging = false
        } notify: { [self] in
            notify()
            for point in points { point.didChange() }
            if publishes { for subscription in subscriptions { subscription.publish() } }
            for event in cycle.events {
                for reader in cycle.readers { reader.receive(event, itemsInStore: contents.count) }
            }
        }
    }

    // MARK: Observers

    /// Returns a new stream of events.
    final func events() -> AsyncStream<Event> {
        let subscription = EventSubscription<Event>(beginsWithSnapshot: hasLoaded || Event.describesLoading) {
            self.snapshot
        }
        if isChanging { subscription.restart() }
        eventReaders.append(Weak(subscription))
        return AsyncStream { await subscription.next() }
    }

    /// The items as an event.
    final var snapshot: Event { .snapshot(of: contents.items, isLoaded: hasLoaded) }

    /// Whether events are read.
    final var hasReaders: Bool { !readers().isEmpty }

    private final func readers() -> [EventSubscription<Event>] {
        if eventReaders.isEmpty { return [] }
        eventReaders.removeAll { $0.object == nil }
        return eventReaders.compactMap(\.object)
    }

    /// Ends all streams and subscriptions.
    func finish() {
        for subscription in subscriptions { subscription.finish() }
        subscriptions = []
        for reader in readers() { reader.finish() }
    }
}

/// What the steps of a change pass on.
@MainActor
private final class ChangeCycle<Event: SubscribedEvent> {
    var readers: [EventSubscription<Event>] = []
    var events: [Event] = []
}

extension ObservedItems: ItemsSource {
    final var latestItems: [Contents.Item] { contents.items }

    final func add(_ subscription: ItemsSubscription<Contents.Item>) {
        subscriptions.removeAll { $0.isCancelled }
        subscriptions.append(subscription)
    }
}

/// The items that observers see, in a form that suits their owner.
protocol ObservedContents: Sendable {
    associatedtype Item: StorableItem
    var items: [Item] { get }
    var count: Int { get }
}

extension OrderedItems: ObservedContents where Item: Codable {}
