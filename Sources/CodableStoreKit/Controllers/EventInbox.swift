import Bodega
import DequeModule

/// Events on their way to the main actor, in order and numbered.
final class EventInbox<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the objects. One that is not safe to share is handed over: its observer puts it in, and only the
    // main actor takes it out.

    private struct State {
        var events = Deque<CodableStore<Object>.ObserveEvent>()
        var taken = 0
    }

    private let state = Locked(State())

    func add(_ event: CodableStore<Object>.ObserveEvent) {
        state.withLock { $0.events.append(event) }
    }

    /// Takes out the first event.
    func next() -> (number: Int, event: CodableStore<Object>.ObserveEvent)? {
        state.withLock { state in
            guard let event = state.events.popFirst() else { return nil }
            state.taken += 1
            return (state.taken, event)
        }
    }

    /// The number of the last event that has been put in.
    var lastNumber: Int {
        state.withLock { $0.taken + $0.events.count }
    }
}
