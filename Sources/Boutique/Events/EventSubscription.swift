import Bodega
import DequeModule

/// The unread events of one reader of a store's events.
///
/// 1. The backlog starts with a snapshot of the store.
/// 2. The store passes each event to ``receive(_:itemsInStore:)``, which resumes the waiting reader or appends it.
/// 3. ``next()`` takes the first event of the backlog, or suspends until there is one.
/// 4. If the backlog exceeds the items of a snapshot, it is dropped, and ``next()`` takes a new snapshot.
///
/// An unread snapshot is a second reference to the items, so the next change copies all of them. A large one is
/// therefore dropped before a change, and taken again when it is read. The main actor guards all state.
@MainActor
final class EventSubscription<Item: StorableItem> {

    /// The number of items that a backlog of any store may contain. Each event counts as one at least.
    private static var allowance: Int { 8_192 }

    private let snapshot: @MainActor () -> StoreEvent<Item>
    private var backlog: Deque<StoreEvent<Item>>
    private var itemsInBacklog = 0
    /// Whether ``next()`` takes a new snapshot.
    private var needsSnapshot = false
    private var waiting: CheckedContinuation<StoreEvent<Item>?, Never>?
    private var isFinished = false

    /// Creates a subscription.
    ///
    /// - Parameter snapshot: Returns the state of the store as an event.
    init(snapshot: @escaping @MainActor () -> StoreEvent<Item>) {
        self.snapshot = snapshot
        backlog = [snapshot()]
    }

    /// Drops snapshots that would make a change copy many items.
    func prepareForChange(itemsInStore count: Int) {
        if count > Self.allowance, backlog.contains(where: { $0.operation == .loaded }) { beginAnew() }
    }

    /// Delivers an event to the reader.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - count: The number of items in the store.
    func receive(_ event: StoreEvent<Item>, itemsInStore count: Int) {
        // The snapshot will include the event.
        if isFinished || needsSnapshot { return }
        if let waiting = take(&waiting) { return waiting.resume(returning: event) }
        backlog.append(event)
        if event.operation != .loaded { itemsInBacklog += event.weight }
        // Each snapshot can reference a different version of all items.
        let snapshots = event.operation == .loaded ? backlog.count { $0.operation == .loaded } : 0
        if snapshots > 2 || itemsInBacklog > max(Self.allowance, count) { beginAnew() }
    }

    /// Drops the backlog; the reader gets a new snapshot next.
    func beginAnew() {
        backlog = []
        itemsInBacklog = 0
        needsSnapshot = true
    }

    /// Ends the stream after the backlog.
    func finish() {
        isFinished = true
        take(&waiting)?.resume(returning: nil)
    }

    /// The next event, or `nil` at the end or when the reading task is cancelled.
    func next() async -> StoreEvent<Item>? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: nil)
                } else if needsSnapshot {
                    needsSnapshot = false
                    continuation.resume(returning: snapshot())
                } else if let event = backlog.popFirst() {
                    if event.operation != .loaded { itemsInBacklog -= event.weight }
                    continuation.resume(returning: event)
                } else if isFinished {
                    continuation.resume(returning: nil)
                } else {
                    // A stream has one reader; a second one replaces it.
                    take(&waiting)?.resume(returning: nil)
                    waiting = continuation
                }
            }
        } onCancel: {
            Task { @MainActor in take(&waiting)?.resume(returning: nil) }
        }
    }
}

extension StoreEvent {
    /// The number of items that it counts as in a backlog.
    fileprivate var weight: Int { max(1, items.count) }
}

/// Returns the value of a variable and sets it to `nil`.
private func take<Value>(_ variable: inout Value?) -> Value? {
    defer { variable = nil }
    return variable
}
