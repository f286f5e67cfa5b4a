import Bodega
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// The items of a query on the main actor, and their observers.
///
/// A change is shown in one cycle without suspending: announce it to `objectWillChange` and the Observation framework,
/// replace the rows, notify the Observation framework, publish the items, and hand the events to their readers.
@MainActor
final class LiveQueryModel<Item: StorableItem> {
    private(set) var items: [Item] = []
    /// Whether the items were loaded once. They stay, also if the engine can't be read later.
    private(set) var hasLoaded = false
    private(set) var state = StoreState.loading
    private(set) var hasMore = false
    private(set) var undecodable: [StorageError] = []

    nonisolated let objectChanges = ObjectChanges()
    nonisolated let publisher = ItemsPublisher<Item>()

    private let itemsPoint = ObservationPoint()
    private let statePoint = ObservationPoint()
    private var eventReaders: [Weak<EventSubscription<LiveQueryEvent<Item>>>] = []

    nonisolated init() {}

    /// The items. Observers track this access.
    var observedItems: [Item] {
        itemsPoint.access()
        return items
    }

    /// Records that the state is being read.
    func accessState() { statePoint.access() }

    /// Shows what was read.
    func show(_ update: WindowUpdate<Item>) {
        let (isFirst, events) = (!hasLoaded, update.events)
        let (undecodable, hasMore) = (update.contents.undecodable, update.contents.window.hasMore)
        let isStateChanged =
            !state.isLoaded || hasMore != self.hasMore || self.undecodable.count + undecodable.count > 0
        if events.isEmpty, !isStateChanged { return }
        objectChanges.publisher.send()
        if !events.isEmpty { itemsPoint.willChange() }
        if isStateChanged { statePoint.willChange() }
        if !events.isEmpty { items = update.items }
        (self.hasMore, self.undecodable, state, hasLoaded) = (hasMore, undecodable, .loaded, true)
        // A stream that a subscriber creates from here on begins with these items.
        let readers = readers()
        if !events.isEmpty { itemsPoint.didChange() }
        if isStateChanged { statePoint.didChange() }
        if !events.isEmpty || isFirst { publisher.send(items) }
        for reader in readers {
            if isFirst {
                reader.receive(.loaded(items), itemsInStore: items.count)
            } else {
                for event in events { reader.receive(event, itemsInStore: items.count) }
            }
        }
    }

    /// Shows that the items could not be read. Items that are loaded stay.
    func fail(_ error: any Error) {
        // Each attempt to read can fail with the same error.
        if let known = state.error, "\(known)" == "\(error)" { return }
        show(.failed(error))
    }

    /// Shows that the engine could be read, and that the items that are loaded are those of the engine.
    func showSuccess() {
        if !state.isLoaded { show(.loaded) }
    }

    private func show(_ newState: StoreState) {
        objectChanges.publisher.send()
        statePoint.willChange()
        state = newState
        statePoint.didChange()
    }

    /// Returns a new stream of events.
    func events() -> AsyncStream<LiveQueryEvent<Item>> {
        let subscription = EventSubscription<LiveQueryEvent<Item>>(beginsWithSnapshot: hasLoaded) { [self] in
            .loaded(items)
        }
        eventReaders.append(Weak(subscription))
        return AsyncStream { await subscription.next() }
    }

    /// Ends all streams and subscriptions.
    func finish() {
        for reader in readers() { reader.finish() }
        publisher.finish()
    }

    private func readers() -> [EventSubscription<LiveQueryEvent<Item>>] {
        eventReaders.removeAll { $0.object == nil }
        return eventReaders.compactMap(\.object)
    }
}
