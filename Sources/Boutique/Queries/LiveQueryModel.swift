import Bodega
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// The items of a query on the main actor, and their observers.
///
/// A change is shown in one cycle without suspending: announce it to `objectWillChange` and the Observation framework, replace
/// the rows, notify the Observation framework, publish the items, and hand the events to their readers.
@MainActor
final class LiveQueryModel<Item: StorableItem> {
    private(set) var items: [Item] = []
    private(set) var state = StoreState.loading
    private(set) var hasMore = false
    private(set) var undecodable: [StorageError] = []

    nonisolated let objectChanges = ObjectChanges()
    nonisolated let publisher = ItemsPublisher<Item>()

    private let itemsPoint = ObservationPoint()
    private let statePoint = ObservationPoint()
    private var eventReaders: [WeakReference<EventSubscription<LiveQueryEvent<Item>>>] = []

    nonisolated init() {}

    /// The items. Observers track this access.
    var observedItems: [Item] {
        itemsPoint.access()
        return items
    }

    /// Records that the state is being read.
    func accessState() { statePoint.access() }

    /// Shows a change.
    ///
    /// - Parameters:
    ///   - window: The window after the change.
    ///   - old: The rows before it.
    ///   - undecodable: The records that could not be read.
    func show(
        _ window: QueryWindow<Item>, after old: ArraySlice<QueryRow<Item>>, undecodable: [StorageError]
    ) {
        let wasLoaded = state.isLoaded
        let events = QueryRow.events(from: old, to: window.shown)
        let isStateChanged = !wasLoaded || window.hasMore != hasMore || self.undecodable.count + undecodable.count > 0
        if events.isEmpty, !isStateChanged { return }
        objectChanges.publisher.send()
        if !events.isEmpty { itemsPoint.willChange() }
        if isStateChanged { statePoint.willChange() }
        if !events.isEmpty { items = window.shown.map(\.item) }
        (hasMore, self.undecodable, state) = (window.hasMore, undecodable, .loaded)
        // A stream that a subscriber creates from here on begins with these items.
        let readers = readers()
        if !events.isEmpty { itemsPoint.didChange() }
        if isStateChanged { statePoint.didChange() }
        if !events.isEmpty || !wasLoaded { publisher.send(items) }
        for reader in readers {
            if wasLoaded {
                for event in events { reader.receive(event, itemsInStore: items.count) }
            } else {
                reader.receive(.loaded(items), itemsInStore: items.count)
            }
        }
    }

    /// Shows that the items could not be read. Items that are loaded stay.
    func fail(_ error: any Error) {
        if state.isLoaded { return }
        objectChanges.publisher.send()
        statePoint.willChange()
        state = .failed(error)
        statePoint.didChange()
    }

    /// Returns a new stream of events.
    func events() -> AsyncStream<LiveQueryEvent<Item>> {
        let subscription = EventSubscription<LiveQueryEvent<Item>>(beginsWithSnapshot: state.isLoaded) { [self] in
            .loaded(items)
        }
        eventReaders.append(WeakReference(subscription))
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
