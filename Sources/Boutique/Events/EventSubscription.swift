import Bodega
import DequeModule

/// The events of a store or a query that one reader has not read yet.
///
///      model ──► receive(_:itemsInStore:) ──► backlog ──► next() ──► reader
///                      │                                    ▲
///                      └─ too long: restart() ──► snapshot ─┘
///
/// 1. The backlog begins with a snapshot, or is empty until one comes.
/// 2. The model hands over each event. It resumes the reader if that is waiting, else it joins the backlog.
/// 3. ``next()`` returns the head of the backlog, or waits.
/// 4. If the backlog holds more items than a snapshot, ``restart()`` drops it. Further events are dropped, too, until
///    the reader asks for one: it gets a snapshot that is taken then and contains their changes.
/// 5. ``prepareForChange(itemsInStore:)`` restarts before a change if a snapshot of many items is waiting: it is a
///    second reference to the items, which would make the change copy all of them.
///
/// The main actor guards all state. A cancelled read resumes there with `nil`.
@MainActor
final class EventSubscription<Event: SubscribedEvent> {

    /// The number of items that a backlog may hold however few the store has. An event counts as at least one item.
    private static var minimumLimit: Int { 8_192 }

    private let snapshot: @MainActor () -> Event
    private var backlog: Deque<Event>
    private var itemsInBacklog = 0
    /// Whether the reader gets a snapshot next, which ``next()`` takes.
    private var needsSnapshot = false
    private var waiting: CheckedContinuation<Event?, Never>?
    private var isFinished = false

    /// Creates a subscription. Unless its backlog begins with a snapshot, the next event must be one.
    init(beginsWithSnapshot: Bool = true, snapshot: @escaping @MainActor () -> Event) {
        self.snapshot = snapshot
        backlog = beginsWithSnapshot ? [snapshot()] : []
    }

    /// Drops a waiting snapshot that would make a change copy many items.
    func prepareForChange(itemsInStore count: Int) {
        if count > Self.minimumLimit, backlog.contains(where: \.isSnapshot) { restart() }
    }

    /// Delivers an event to the reader.
    func receive(_ event: Event, itemsInStore count: Int) {
        // The snapshot will include this change.
        if isFinished || needsSnapshot { return }
        if let waiting = waiting.take() { return waiting.resume(returning: event) }
        backlog.append(event)
        if !event.isSnapshot { itemsInBacklog += event.weight }
        // Each snapshot can hold another version of all items.
        let snapshots = event.isSnapshot ? backlog.count(where: \.isSnapshot) : 0
        if snapshots > 2 || itemsInBacklog > max(Self.minimumLimit, count) { restart() }
    }

    /// Drops the unread events. The reader gets a snapshot next, taken when it reads.
    func restart() {
        backlog = []
        itemsInBacklog = 0
        needsSnapshot = true
    }

    /// Ends the stream after the events in the backlog.
    func finish() {
        isFinished = true
        waiting.take()?.resume(returning: nil)
    }

    /// Returns the next event, or `nil` at the end or when the reading task is cancelled.
    func next() async -> Event? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: nil)
                } else if needsSnapshot {
                    needsSnapshot = false
                    continuation.resume(returning: snapshot())
                } else if let event = backlog.popFirst() {
                    if !event.isSnapshot { itemsInBacklog -= event.weight }
                    continuation.resume(returning: event)
                } else if isFinished {
                    continuation.resume(returning: nil)
                } else {
                    // A stream has one reader. A second one replaces it, and the first one's stream ends.
                    waiting.take()?.resume(returning: nil)
                    waiting = continuation
                }
            }
        } onCancel: {
            Task { @MainActor in waiting.take()?.resume(returning: nil) }
        }
    }
}

/// An event that a subscription keeps until it is read.
protocol SubscribedEvent: Sendable {
    associatedtype Item: StorableItem

    /// Whether there is an event for items that are not loaded yet.
    static var describesLoading: Bool { get }

    /// Returns an event that replaces all earlier ones.
    static func snapshot(of items: [Item], isLoaded: Bool) -> Self

    /// Whether the event replaces all earlier ones.
    var isSnapshot: Bool { get }

    /// The number of items that the event counts as in a backlog.
    var weight: Int { get }
}

extension StoreEvent: SubscribedEvent {
    static var describesLoading: Bool { true }

    static func snapshot(of items: [Item], isLoaded: Bool) -> Self {
        isLoaded ? StoreEvent(.loaded, items: items) : StoreEvent(.initialized)
    }

    var isSnapshot: Bool { operation == .loaded }
    var weight: Int { max(1, items.count) }
}
