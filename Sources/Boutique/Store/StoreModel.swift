import Bodega
import Foundation
import Logging
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// The items of a store on the main actor, and their observers.
///
/// The pipeline decides what changes and when. The model shows each change in one cycle without suspending:
///
/// 1. Announce the change to `objectWillChange`, let event streams drop waiting snapshots of many items, and announce
///    the change to the Observation framework.
/// 2. Replace the items, the exceptions, and the state.
/// 3. Notify the Observation framework.
/// 4. Publish the items to the subscribers of `$items`, once for the change, however many operations it has.
/// 5. Hand the events, one per operation step, to the event streams, and versions of changed items to their streams.
///
/// The main actor guards all state. Observers are called synchronously. An event stream that an observer creates during
/// ``apply(_:_:)`` therefore begins with a snapshot that is taken when it is read.
@MainActor
final class StoreModel<Item: StorableItem> {

    /// The items.
    private(set) var contents: OrderedItems<Item>
    /// The loading state.
    private(set) var state: StoreState
    /// The records that are not simply items under their own keys.
    private(set) var exceptions: RecordExceptions

    /// Emits before each change, for observers of the store as an object.
    nonisolated let objectChanges = ObjectChanges()

    /// Whether a change is being applied, so that a reader may still see the state before it.
    private var isChanging = false

    /// Whether a read of the items before they were loaded has been logged.
    private(set) var hasReportedEarlyRead = false

    private let itemsPoint = ObservationPoint()
    private let statePoint = ObservationPoint()
    private let undecodablePoint = ObservationPoint()
    private let singleItems = ItemObservation()
    private var subscriptions: [ItemsSubscription<Item>] = []
    private var eventReaders: [Weak<EventSubscription<StoreEvent<Item>>>] = []
    private let itemStreams = ItemStreams<Item>()

    /// Creates a model with loaded items, or one that is loading if there are none.
    nonisolated init(_ loaded: LoadedRecords<Item>? = nil) {
        contents = loaded?.contents ?? OrderedItems()
        exceptions = loaded?.exceptions ?? RecordExceptions()
        state = loaded == nil ? .loading : .loaded
    }

    deinit {
        // Many items take long to free, and the last reference is often released on the main actor.
        if contents.count > 0 { Task.detached { [contents] in _ = contents } }
    }

    // MARK: Tracked reads

    /// The items. Observers track this access.
    var items: [Item] {
        itemsPoint.access()
        return contents.items
    }

    /// Logs, once, that a task reads the items before they are loaded. The task could have waited for them.
    ///
    /// At the top level of `main.swift`, the compiler chooses the initializer that loads in the background, even after
    /// `try await`, so nothing else reveals the mistake. A view does not read in a task, and is rendered again when the
    /// items are loaded.
    func reportEarlyRead() {
        guard case .loading = state, !hasReportedEarlyRead, withUnsafeCurrentTask(body: { $0 != nil }) else {
            return
        }
        hasReportedEarlyRead = true
        boutiqueLogger.notice(
            """
            The items of a store were read before they were loaded, so the array was empty. Call `try await \
            store.itemsHaveLoaded()` first, or create the store with `try await Store(…)` in an async function.
            """,
            metadata: ["items": "\(Item.self)"]
        )
    }

    /// The number of items. Observers track this access.
    var count: Int {
        itemsPoint.access()
        return contents.count
    }

    /// The item under a key. Observers track this access.
    subscript(key: CacheKey) -> Item? {
        singleItems.access(key)
        return contents[key]
    }

    /// Returns whether there is an item under a key. Observers track this access.
    func contains(_ key: CacheKey) -> Bool {
        singleItems.access(key)
        return contents.contains(key)
    }

    /// The state. Observers track this access.
    var observedState: StoreState {
        statePoint.access()
        return state
    }

    /// The errors of the reported records. Observers track this access.
    var undecodable: [StorageError] {
        undecodablePoint.access()
        return exceptions.reported
    }

    // MARK: Showing

    /// Shows a new state.
    func show(_ newState: StoreState) {
        objectChanges.publisher.send()
        observed(by: [statePoint]) { state = newState }
    }

    /// Shows the items that were read from the engine, in place of the earlier ones.
    func show(_ loaded: LoadedRecords<Item>) {
        objectChanges.publisher.send()
        singleItems.willChange(.any)
        releaseElsewhere(contents, count: contents.count)
        observed(by: [itemsPoint, statePoint, undecodablePoint]) {
            contents = loaded.contents
            exceptions = loaded.exceptions
            state = .loaded
        }
        singleItems.didChange(.any)
        publish()
        for reader in readers() { reader.receive(snapshot, itemsInStore: contents.count) }
        itemStreams.yieldAll(from: contents)
    }

    /// Shows the changes of operations.
    ///
    /// - Parameters:
    ///   - operations: The changes of each operation.
    ///   - newExceptions: The exceptions after the operations.
    func apply(_ operations: [[StoreChange<Item>]], _ newExceptions: RecordExceptions) {
        let changes = operations.flatMap { $0 }
        let areItemsChanged = changes.contains { $0.affects(contents) }
        change(areItemsChanged ? ChangedKeys(changes) : .these([]), newExceptions, areItemsChanged) { reportsEvents in
            changes.compactMap { contents.apply($0, reportsEvent: reportsEvents) }
        }
    }

    /// Shows a change that was prepared off the main actor.
    func apply(_ prepared: PreparedChange<Item>) {
        releaseElsewhere(contents, count: contents.count)
        let changed = prepared.areItemsChanged ? ChangedKeys.any : .these([])
        change(changed, prepared.exceptions, prepared.areItemsChanged) { _ in
            contents = prepared.contents
            // Readers that have appeared while the change was prepared receive a snapshot.
            return prepared.events ?? [snapshot]
        }
    }

    private func change(
        _ changed: ChangedKeys, _ newExceptions: RecordExceptions, _ areItemsChanged: Bool,
        _ apply: (_ reportsEvents: Bool) -> [StoreEvent<Item>]
    ) {
        isChanging = true
        defer { isChanging = false }
        var points: [ObservationPoint] = []
        if newExceptions.reportsRevision != exceptions.reportsRevision { points.append(undecodablePoint) }
        if areItemsChanged { points.append(itemsPoint) }
        // An operation that changes nothing is still an event.
        if !points.isEmpty { objectChanges.publisher.send() }

        let readers = readers()
        for reader in readers { reader.prepareForChange(itemsInStore: contents.count) }
        var events: [StoreEvent<Item>] = []
        singleItems.willChange(changed)
        observed(by: points) {
            exceptions = newExceptions
            events = apply(!readers.isEmpty)
        }
        singleItems.didChange(changed)
        if areItemsChanged { publish() }
        for event in events {
            for reader in readers { reader.receive(event, itemsInStore: contents.count) }
        }
        itemStreams.yield(changed, from: contents)
    }

    private func observed(by points: [ObservationPoint], _ change: () -> Void) {
        for point in points { point.willChange() }
        change()
        for point in points { point.didChange() }
    }

    private func publish() {
        for subscription in subscriptions { subscription.publish() }
    }

    // MARK: Observers

    /// Starts publishing the items to a subscriber.
    func add(_ subscription: ItemsSubscription<Item>) {
        subscriptions.append(subscription)
    }

    /// Returns whether the items are published to a subscriber.
    func has(_ subscription: ItemsSubscription<Item>) -> Bool {
        subscriptions.contains { $0 === subscription }
    }

    /// Stops publishing the items to a subscriber.
    func remove(_ subscription: ItemsSubscription<Item>) {
        subscriptions.removeAll { $0 === subscription }
    }

    /// Returns a new stream of events.
    func events() -> AsyncStream<StoreEvent<Item>> {
        let subscription = EventSubscription<StoreEvent<Item>> { self.snapshot }
        if isChanging { subscription.restart() }
        eventReaders.append(Weak(subscription))
        return AsyncStream { await subscription.next() }
    }

    /// The state and the items, as an event.
    private var snapshot: StoreEvent<Item> {
        state.isLoaded ? StoreEvent(.loaded, items: contents.items) : StoreEvent(.initialized)
    }

    /// Returns a stream of the versions of one item, which begins when the items are loaded.
    func values(of key: CacheKey) -> AsyncStream<Item?> {
        let stream = itemStreams.stream(of: key)
        if state.isLoaded { itemStreams.yield(key, contents[key]) }
        return stream
    }

    /// Ends all streams and subscriptions.
    func finish() {
        for subscription in subscriptions { subscription.cancel() }
        subscriptions = []
        for reader in readers() { reader.finish() }
        itemStreams.finish()
    }

    /// Whether events are read.
    var hasReaders: Bool { !readers().isEmpty }

    private func readers() -> [EventSubscription<StoreEvent<Item>>] {
        if eventReaders.isEmpty { return [] }
        eventReaders.removeAll { $0.object == nil }
        return eventReaders.compactMap(\.object)
    }
}
