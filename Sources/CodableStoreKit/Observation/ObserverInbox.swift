import Bodega
import DequeModule
import Dispatch

/// The events on their way to one observer, which is called for one at a time, in their order, where its scheduler says.
final class ObserverInbox<Event>: @unchecked Sendable {
    // @unchecked because of the objects in the events. One that is not safe to share is handed over: the thread that reports
    // it puts it in, and the one that calls the observer takes it out.

    private struct State {
        var events = Deque<Event>()
        var isCalling = false
        var hasEnded = false
    }

    private let state = Locked(State())
    private let scheduler: ObserverScheduler
    private let observer: @Sendable (Event) -> Void

    init(_ scheduler: ObserverScheduler, _ observer: @escaping @Sendable (Event) -> Void) {
        self.scheduler = scheduler
        self.observer = observer
    }

    /// Takes an event, and calls the observer if this is the place for it.
    func add(_ event: Event) {
        nonisolated(unsafe) let event = event
        state.withLock { state in
            if !state.hasEnded { state.events.append(event) }
        }
        proceed()
    }

    /// Forgets the events that wait. The observer is not called any more.
    func end() {
        let events = state.withLock { state in
            defer { state.events = [] }
            state.hasEnded = true
            return state.events
        }
        withExtendedLifetime(events) {}
    }

    private func proceed() {
        if let queue = scheduler.queue {
            queue.async { self.callObserver(isHere: true) }
        } else {
            callObserver(isHere: false)
        }
    }

    /// Calls the observer for all events that wait, unless another thread, or this one further up, does so.
    ///
    /// - Parameter isHere: Whether this is the scheduler's queue.
    private func callObserver(isHere: Bool) {
        let begins = state.withLock { state in
            defer { state.isCalling = true }
            return !state.isCalling
        }
        guard begins else { return }
        while let event = next() {
            observer(event)
            // The main loop may have begun in the meantime.
            if !isHere, scheduler.queue != nil {
                state.withLock { $0.isCalling = false }
                return proceed()
            }
        }
    }

    private func next() -> Event? {
        state.withLock { state in
            let event = state.events.popFirst()
            if event == nil { state.isCalling = false }
            return event
        }
    }
}
