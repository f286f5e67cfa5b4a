import Bodega
import Foundation
import Logging

/// The items of a store on the main actor, and their observers. The pipeline decides what changes and when.
///
/// Each change takes one cycle of ``ObservedItems``, which also announces it to the observers of single items. Then the
/// streams of single items receive the versions of changed items.
@MainActor
final class StoreModel<Item: StorableItem>: ObservedItems<OrderedItems<Item>, StoreEvent<Item>> {

    /// The records that are not simply items under their own keys.
    private(set) var exceptions: RecordExceptions

    /// Whether a read of the items before they were loaded has been logged.
    private(set) var hasReportedEarlyRead = false

    private let undecodablePoint = ObservationPoint()
    private let singleItems = ItemObservation()
    private let itemStreams = ItemStreams<Item>()

    /// Creates a model with loaded items, or one that is loading if there are none.
    nonisolated init(_ loaded: LoadedRecords<Item>? = nil) {
        exceptions = loaded?.exceptions ?? RecordExceptions()
        super.init(loaded?.contents ?? OrderedItems(), loaded == nil ? .loading : .loaded)
    }

    // MARK: Tracked reads

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

    /// The items with a value of a property. Observers track this access.
    func items(with value: AnyHashable, in property: ItemLookup<Item>.Property) -> [Item] {
        itemsPoint.access()
        return contents.items(with: value, in: property)
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

    /// The errors of the reported records. Observers track this access.
    var undecodable: [StorageError] {
        undecodablePoint.access()
        return exceptions.reported
    }

    // MARK: Showing

    /// Returns the replacement of the items by those that were read from the engine.
    func replacement(by loaded: LoadedRecords<Item>) -> ShownChange {
        change(
            [itemsPoint, statePoint, undecodablePoint], publishes: true,
            announce: { [self] in singleItems.willChange(.any) },
            notify: { [self] in
                singleItems.didChange(.any)
                itemStreams.yieldAll(from: contents)
            }
        ) { [self] _ in
            releaseElsewhere(contents, count: contents.count)
            contents = loaded.contents
            exceptions = loaded.exceptions
            state = .loaded
            return [snapshot]
        }
    }

    /// Returns the changes of operations.
    func change(_ operations: [[StoreChange<Item>]], _ newExceptions: RecordExceptions) -> ShownChange {
        let changes = operations.flatMap { $0 }
        let areItemsChanged = changes.contains { $0.affects(contents) }
        return change(
            areItemsChanged ? ChangedKeys(changes) : .these([]), newExceptions, areItemsChanged
        ) { [self] reportsEvents in
            changes.compactMap { contents.apply($0, reportsEvent: reportsEvents) }
        }
    }

    /// Returns a change that was prepared off the main actor.
    func change(_ prepared: PreparedChange<Item>) -> ShownChange {
        let changed = prepared.areItemsChanged ? ChangedKeys.any : .these([])
        return change(changed, prepared.exceptions, prepared.areItemsChanged) { [self] _ in
            releaseElsewhere(contents, count: contents.count)
            contents = prepared.contents
            // Readers that have appeared while the change was prepared receive a snapshot.
            return prepared.events ?? [snapshot]
        }
    }

    private func change(
        _ changed: ChangedKeys, _ newExceptions: RecordExceptions, _ areItemsChanged: Bool,
        _ make: @escaping @MainActor (_ reportsEvents: Bool) -> [StoreEvent<Item>]
    ) -> ShownChange {
        var points: [ObservationPoint] = []
        if newExceptions.reportsRevision != exceptions.reportsRevision { points.append(undecodablePoint) }
        if areItemsChanged { points.append(itemsPoint) }
        return change(
            points, publishes: areItemsChanged, announce: { [self] in singleItems.willChange(changed) },
            notify: { [self] in
                singleItems.didChange(changed)
                itemStreams.yield(changed, from: contents)
            }
        ) { [self] reportsEvents in
            exceptions = newExceptions
            return make(reportsEvents)
        }
    }

    // MARK: Streams

    /// Returns a stream of the versions of one item, which begins when the items are loaded.
    func values(of key: CacheKey) -> AsyncStream<Item?> {
        let stream = itemStreams.stream(of: key)
        if state.isLoaded { itemStreams.yield(key, contents[key]) }
        return stream
    }

    /// Ends all streams and subscriptions.
    override func finish() {
        super.finish()
        itemStreams.finish()
    }
}
