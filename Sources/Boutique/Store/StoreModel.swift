import Bodega
import Foundation
import Logging
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// The items of a store on the main actor, and everybody who watches them.
///
/// It only shows: the store's pipeline decides what changes and when. A change is one for all who watch, whatever number
/// of operations it comes from; events are told one for each operation.
@MainActor
final class StoreModel<Item: StorableItem> {

    /// The items.
    private(set) var contents: OrderedItems<Item>
    /// Whether they are there.
    private(set) var state: StoreState
    /// Where the records are that are not simply items under their own keys.
    private(set) var exceptions: RecordExceptions

    /// Fires before each change, for observers of the store as an object.
    nonisolated let objectChanges = ObjectChanges()

    /// Whether a change is being told, so that what is shown may be the state before it.
    private var isChanging = false

    /// Whether it was reported that the items were read before they were loaded.
    private(set) var hasReportedEarlyReading = false

    private let itemsPoint = ObservationPoint()
    private let statePoint = ObservationPoint()
    private let undecodablePoint = ObservationPoint()
    private let singleItems = ItemObservation()
    private var publishing: [ItemsSubscription<Item>] = []
    private var eventReaders: [WeakReference<EventSubscription<Item>>] = []
    private let itemStreams = ItemStreams<Item>()

    /// Shows the items that are there already, or that it is loading if there are none.
    nonisolated init(_ loaded: LoadedRecords<Item>? = nil) {
        contents = loaded?.contents ?? OrderedItems()
        exceptions = loaded?.exceptions ?? RecordExceptions()
        state = loaded == nil ? .loading : .loaded
    }

    deinit {
        // Many items take long to free, and the last reference is often let go on the main actor.
        Task.detached { [contents] in _ = contents }
    }

    // MARK: Reading, seen by observers

    /// The items, read by a user.
    var items: [Item] {
        itemsPoint.access()
        return contents.items
    }

    /// Reports, once, that the items are read before they are loaded, if the reader could have waited: if it is a task.
    ///
    /// At the top level of `main.swift` nothing else does. There, the compiler chooses the initializer that loads in the
    /// background, also after `try await`. A view, which is drawn again when the items are loaded, is no task.
    func reportEarlyReading() {
        guard case .loading = state, !hasReportedEarlyReading, withUnsafeCurrentTask(body: { $0 != nil }) else {
            return
        }
        hasReportedEarlyReading = true
        boutiqueLogger.notice(
            """
            The items of a store were read before they were loaded, so there were none. Call `try await \
            store.itemsHaveLoaded()` first, or create the store in an async function by `try await Store(…)`.
            """,
            metadata: ["items": "\(Item.self)"]
        )
    }

    /// The number of items, read by a user.
    var count: Int {
        itemsPoint.access()
        return contents.count
    }

    /// An item, read by a user.
    subscript(key: CacheKey) -> Item? {
        singleItems.access(key)
        return contents[key]
    }

    /// Whether there is an item, asked by a user.
    func contains(_ key: CacheKey) -> Bool {
        singleItems.access(key)
        return contents.contains(key)
    }

    /// The state, read by a user.
    var observedState: StoreState {
        statePoint.access()
        return state
    }

    /// The undecodable records, read by a user.
    var undecodable: [StorageError] {
        undecodablePoint.access()
        return exceptions.reported
    }

    // MARK: Changing

    /// Shows a new state.
    func show(_ newState: StoreState) {
        objectChanges.publisher.send()
        observed(by: [statePoint]) { state = newState }
    }

    /// Shows the items that were read from the engine, instead of what was shown before.
    func show(_ loaded: LoadedRecords<Item>) {
        objectChanges.publisher.send()
        singleItems.willChange(.any)
        // Many items take long to free.
        let old = contents
        defer { Task.detached { _ = old } }
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

    /// Shows what operations have changed.
    ///
    /// - Parameters:
    ///   - operations: The changes of each operation.
    ///   - newExceptions: Where the records are after them.
    func apply(_ operations: [[StoreChange<Item>]], _ newExceptions: RecordExceptions) {
        isChanging = true
        defer { isChanging = false }
        let changes = operations.flatMap { $0 }
        var points: [ObservationPoint] = []
        if newExceptions.reportsRevision != exceptions.reportsRevision { points.append(undecodablePoint) }
        let areItemsChanged = changes.contains { $0.concerns(contents) }
        if areItemsChanged { points.append(itemsPoint) }
        // What changes nothing is an event all the same.
        if !points.isEmpty { objectChanges.publisher.send() }

        let readers = readers()
        for reader in readers { reader.prepareForChange(itemsInStore: contents.count) }
        let changed = areItemsChanged ? ChangedKeys(changes) : .these([])
        var events: [StoreEvent<Item>] = []
        singleItems.willChange(changed)
        observed(by: points) {
            exceptions = newExceptions
            for change in changes {
                if let event = contents.apply(change, isTold: !readers.isEmpty) { events.append(event) }
            }
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
        for subscription in publishing { subscription.publish() }
    }

    // MARK: Watching

    /// Publishes the items to a subscriber from now on.
    func add(_ subscription: ItemsSubscription<Item>) {
        publishing.append(subscription)
    }

    /// Whether the items are published to a subscriber.
    func has(_ subscription: ItemsSubscription<Item>) -> Bool {
        publishing.contains { $0 === subscription }
    }

    /// Publishes no more to a subscriber.
    func remove(_ subscription: ItemsSubscription<Item>) {
        publishing.removeAll { $0 === subscription }
    }

    /// A stream of the events from now on.
    func events() -> AsyncStream<StoreEvent<Item>> {
        let subscription = EventSubscription<Item> { self.snapshot }
        if isChanging { subscription.beginAnew() }
        eventReaders.append(WeakReference(subscription))
        return AsyncStream { await subscription.next() }
    }

    /// The state, as the event of a kind of its own.
    private var snapshot: StoreEvent<Item> {
        state.isLoaded ? StoreEvent(.loaded, items: contents.items) : StoreEvent(.initialized)
    }

    /// A stream of the versions of one item, once the items are there.
    func values(of key: CacheKey) -> AsyncStream<Item?> {
        let stream = itemStreams.stream(of: key)
        if state.isLoaded { itemStreams.yield(key, contents[key]) }
        return stream
    }

    /// Ends all streams and subscriptions.
    func finish() {
        for subscription in publishing { subscription.cancel() }
        publishing = []
        for reader in readers() { reader.finish() }
        itemStreams.finish()
    }

    private func readers() -> [EventSubscription<Item>] {
        if eventReaders.isEmpty { return [] }
        eventReaders.removeAll { $0.object == nil }
        return eventReaders.compactMap(\.object)
    }
}

/// A reference that does not keep its object alive.
private struct WeakReference<Object: AnyObject> {
    weak var object: Object?

    init(_ object: Object) {
        self.object = object
    }
}
