import Bodega
import DequeModule

/// Events on their way to the main actor, in order.
final class EventInbox<Object: BaseCodableStoreable>: @unchecked Sendable {
    // @unchecked because of the objects. One that is not safe to share is handed over: its observer puts it in, and only the
    // main actor takes it out.

    private let events = Locked(Deque<CodableStore<Object>.ObserveEvent>())

    func add(_ event: CodableStore<Object>.ObserveEvent) {
        events.withLock { $0.append(event) }
    }

    /// Takes out the first event.
    func next() -> CodableStore<Object>.ObserveEvent? {
        events.withLock { $0.popFirst() }
    }
}
