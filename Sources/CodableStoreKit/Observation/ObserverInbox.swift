import Bodega
import DequeModule
import Dispatch

/// The pending events of one observer, which is called with one event at a time, in order, where its scheduler says.
///
/// 1. A thread that delivers a change appends the event.
/// 2. It takes the events out and calls the observer, or dispatches that to the queue of the scheduler.
/// 3. While a thread calls the observer, others only append. The calling thread takes out all events one by one.
/// 4. If the main run loop starts between two calls, the rest moves from the calling thread to the main queue.
/// 5. If the main queue may be blocked, another thread calls the observer with the events that are left after a time.
///
/// The lock of `state` guards the events and what is known about them. It is not held during a call.
final class ObserverInbox<Event>: @unchecked Sendable {
    // @unchecked because the events hold objects that may not be Sendable. Such an object is transferred: the thread
    // that delivers it adds it, and the thread that calls the observer removes it.

    private struct State {
        var events = Deque<Event>()
        /// The number of events that were ever added.
        var added = 0
        var isCalling = false
        var hasEnded = false

        /// Whether an event is pending that is not newer than the given one.
        func isPending(through last: Int) -> Bool { !events.isEmpty && added - events.count < last }
    }

    /// How long the main queue may take.
    private static var patience: DispatchTimeInterval { .milliseconds(250) }

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
            if state.hasEnded { return }
            state.events.append(event)
            state.added += 1
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
        switch scheduler.place {
        case .currentThread: callObserver(isScheduled: false)
        case .queue(let queue): queue.async { self.callObserver(isScheduled: true) }
        case .mainQueueUnlessBlocked:
            DispatchQueue.main.async { self.callObserver(isScheduled: true) }
            let last = state.withLock(\.added)
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) {
                if case .queue = self.scheduler.place { return self.proceed() }
                self.callObserver(isScheduled: false, through: last)
            }
        }
    }

    /// Calls the observer with pending events, unless another thread or a caller of this method is doing so.
    ///
    /// - Parameters:
    ///   - isScheduled: Whether this is the scheduler's queue.
    ///   - last: The number of the last event for which the main queue had time.
    private func callObserver(isScheduled: Bool, through last: Int = .max) {
        let begins = state.withLock { state in
            if state.isCalling || !state.isPending(through: last) { return false }
            state.isCalling = true
            return true
        }
        guard begins else { return }
        while let event = next(through: last) {
            observer(event)
            if !isScheduled, mustMove(through: last) {
                state.withLock { $0.isCalling = false }
                return proceed()
            }
        }
    }

    /// Takes an event out. If there is none, this ends the calling.
    private func next(through last: Int) -> Event? {
        let (event, isLeft) = state.withLock { state -> (Event?, Bool) in
            if state.isPending(through: last) { return (state.events.popFirst(), false) }
            state.isCalling = false
            return (nil, !state.events.isEmpty)
        }
        if isLeft { proceed() }
        return event
    }

    /// Whether the main run loop has started in the meantime.
    private func mustMove(through last: Int) -> Bool {
        switch scheduler.place {
        case .currentThread: false
        case .queue: true
        case .mainQueueUnlessBlocked: last == .max
        }
    }
}
