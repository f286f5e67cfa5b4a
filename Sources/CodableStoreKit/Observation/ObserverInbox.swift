import Bodega
import DequeModule
import Dispatch

/// The pending events of one observer, which is called with one event at a time, in order, where its scheduler says.
///
/// 1. A thread that delivers a change appends the event.
/// 2. It takes the events out and calls the observer, or dispatches that to the queue of the scheduler.
/// 3. While a thread calls the observer, others only append. The calling thread takes out all events one by one.
/// 4. If the main run loop starts between two calls, the rest moves from the calling thread to the main queue.
///
/// The lock of `state` guards the events and both flags. It is not held during a call.
final class ObserverInbox<Event>: @unchecked Sendable {
    // @unchecked because the events hold objects that may not be Sendable. Such an object is transferred: the thread
    // that delivers it adds it, and the thread that calls the observer removes it.

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

    /// Adds an event, and calls the observer if its scheduler allows that on this thread.
    func add(_ event: Event) {
        nonisolated(unsafe) let event = event
        state.withLock { state in
            if !state.hasEnded { state.events.append(event) }
        }
        proceed()
    }

    /// Discards the pending events. The observer is not called again.
    func end() {
        let events = state.withLock { state in
            defer { state.events = [] }
            state.hasEnded = true
            return state.events
        }
        // Released after the lock, because releasing an object may run other code.
        withExtendedLifetime(events) {}
    }

    private func proceed() {
        if let queue = scheduler.queue {
            queue.async { self.callObserver(isScheduled: true) }
        } else {
            callObserver(isScheduled: false)
        }
    }

    /// Calls the observer with all pending events, unless another thread or a caller of this method is doing so.
    ///
    /// - Parameter isScheduled: Whether this is the scheduler's queue.
    private func callObserver(isScheduled: Bool) {
        let begins = state.withLock { state in
            defer { state.isCalling = true }
            return !state.isCalling
        }
        guard begins else { return }
        while let event = next() {
            observer(event)
            // The main run loop may have started in the meantime.
            if !isScheduled, scheduler.queue != nil {
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
