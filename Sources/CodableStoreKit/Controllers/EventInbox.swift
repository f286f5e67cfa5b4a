import Bodega
import DequeModule

/// A numbered queue of events for the main actor.
final class EventInbox<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because the objects may not be Sendable. They are transferred: an observer adds an object, and only
    // the main actor removes it.

    private struct State {
        var events = Deque<CodableStore<Object>.ObserveEvent>()
        /// The number of events removed so far.
        var taken = 0
    }

    private let state = Locked(State())

    func add(_ event: CodableStore<Object>.ObserveEvent) {
        state.withLock { $0.events.append(event) }
    }

    /// Removes and returns the first event.
    func next() -> (number: Int, event: CodableStore<Object>.ObserveEvent)? {
        state.withLock { state in
            guard let event = state.events.popFirst() else { return nil }
            state.taken += 1
            return (state.taken, event)
        }
    }

    /// The number of the last event that was added.
    var lastNumber: Int {
        state.withLock { $0.taken + $0.events.count }
    }
}
