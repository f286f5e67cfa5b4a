import Bodega
import DequeModule

/// One reader of a store's events: what it has not read yet.
///
/// A reader begins with a snapshot and gets each event after it. If it falls so far behind that its backlog would hold
/// more than a snapshot does, the backlog is dropped and it gets a snapshot again. Snapshots are taken when they are read,
/// because a copy of the items that lies somewhere would make the next change copy all of them.
@MainActor
final class EventSubscription<Item: StorableItem> {

    /// How many events, and how many items in them, a backlog may always hold.
    private static var allowance: Int { 65_536 }

    private let snapshot: @MainActor () -> StoreEvent<Item>
    private var needsSnapshot = true
    private var backlog = Deque<StoreEvent<Item>>()
    private var itemsInBacklog = 0
    private var waiting: CheckedContinuation<StoreEvent<Item>?, Never>?
    private var isFinished = false

    /// Creates a subscription.
    ///
    /// - Parameter snapshot: Tells the state of the store, as the event of a kind of its own.
    init(snapshot: @escaping @MainActor () -> StoreEvent<Item>) {
        self.snapshot = snapshot
    }

    /// Hands an event to the reader.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - count: The number of items in the store.
    func receive(_ event: StoreEvent<Item>, itemsInStore count: Int) {
        // What the snapshot will show needs not be told again.
        if isFinished || needsSnapshot { return }
        if let waiting = take(&waiting) { return waiting.resume(returning: event) }
        backlog.append(event)
        itemsInBacklog += event.items.count
        if backlog.count > Self.allowance || itemsInBacklog > max(Self.allowance, count) { beginAnew() }
    }

    /// Drops what the reader has not read and lets it begin with a snapshot.
    func beginAnew() {
        backlog = []
        itemsInBacklog = 0
        needsSnapshot = true
        if let waiting = take(&waiting) {
            needsSnapshot = false
            waiting.resume(returning: snapshot())
        }
    }

    /// Ends the stream after what is in the backlog.
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
                    itemsInBacklog -= event.items.count
                    continuation.resume(returning: event)
                } else if isFinished {
                    continuation.resume(returning: nil)
                } else {
                    waiting = continuation
                }
            }
        } onCancel: {
            Task { @MainActor in take(&waiting)?.resume(returning: nil) }
        }
    }
}

/// Takes a value out of a variable.
private func take<Value>(_ variable: inout Value?) -> Value? {
    defer { variable = nil }
    return variable
}
