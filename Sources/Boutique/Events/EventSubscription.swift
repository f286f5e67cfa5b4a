import Bodega
import DequeModule

/// One reader of a store's events: what it has not read yet.
///
/// A reader begins with a snapshot and gets each event after it. If it falls so far behind that its backlog would hold
/// more items than a snapshot does, the backlog is dropped and it gets a snapshot again.
///
/// A snapshot that waits to be read is a second reference to the items, and makes the next change copy all of them. Where
/// they are many, it is therefore dropped before a change, and taken anew when it is read.
@MainActor
final class EventSubscription<Item: StorableItem> {

    /// How many items a backlog may hold at any size of the store; an event counts as one at least.
    private static var allowance: Int { 8_192 }

    private let snapshot: @MainActor () -> StoreEvent<Item>
    private var backlog: Deque<StoreEvent<Item>>
    private var itemsInBacklog = 0
    /// Whether the reader gets a snapshot next, which is taken then.
    private var needsSnapshot = false
    private var waiting: CheckedContinuation<StoreEvent<Item>?, Never>?
    private var isFinished = false

    /// Creates a subscription.
    ///
    /// - Parameter snapshot: Tells the state of the store, as the event of a kind of its own.
    init(snapshot: @escaping @MainActor () -> StoreEvent<Item>) {
        self.snapshot = snapshot
        backlog = [snapshot()]
    }

    /// Lets go of what would make a change copy many items.
    func prepareForChange(itemsInStore count: Int) {
        if count > Self.allowance, backlog.contains(where: { $0.operation == .loaded }) { beginAnew() }
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
        if event.operation != .loaded { itemsInBacklog += event.weight }
        // Each snapshot can be a version of all items.
        let snapshots = event.operation == .loaded ? backlog.count { $0.operation == .loaded } : 0
        if snapshots > 2 || itemsInBacklog > max(Self.allowance, count) { beginAnew() }
    }

    /// Drops what the reader has not read; it gets a snapshot next, as things are when it reads it.
    func beginAnew() {
        backlog = []
        itemsInBacklog = 0
        needsSnapshot = true
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
                    if event.operation != .loaded { itemsInBacklog -= event.weight }
                    continuation.resume(returning: event)
                } else if isFinished {
                    continuation.resume(returning: nil)
                } else {
                    // A stream has one reader; a second one takes its place.
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
    /// How much of a backlog it takes.
    fileprivate var weight: Int { max(1, items.count) }
}

/// Takes a value out of a variable.
private func take<Value>(_ variable: inout Value?) -> Value? {
    defer { variable = nil }
    return variable
}
