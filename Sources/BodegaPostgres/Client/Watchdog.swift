#if Postgres
import Bodega
import Dispatch

/// Calls handlers when their deadlines have passed.
///
/// A timer costs more than a read, and nearly all operations end before their deadline. So all deadlines share a timer:
///
/// 1. `watch` stores a handler under a token. If its deadline is the earliest, it also sets the timer for it.
/// 2. `cancel` removes the handler. The timer stays set.
/// 3. The timer fires on `queue`. The watchdog removes all handlers past their deadline and notes the next deadline.
/// 4. It calls the removed handlers outside the lock, and sets the timer for the noted deadline.
///
/// The lock of `state` guards all mutable state.
final class Watchdog: Sendable {

    static let shared = Watchdog()

    private struct State {
        var calls: [UInt64: (deadline: PostgresDeadline, call: @Sendable () -> Void)] = [:]
        var nextToken: UInt64 = 0
        var alarm: PostgresDeadline?
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "emporium.postgres.watchdog")

    /// Calls a handler once a deadline has passed, and returns the token for ``cancel(_:)``.
    func watch(until deadline: PostgresDeadline, _ call: @escaping @Sendable () -> Void) -> UInt64 {
        let (token, isEarlier) = state.withLock { state in
            state.nextToken += 1
            state.calls[state.nextToken] = (deadline, call)
            let isEarlier = state.alarm.map { deadline < $0 } ?? true
            if isEarlier { state.alarm = deadline }
            return (state.nextToken, isEarlier)
        }
        if isEarlier { setAlarm(at: deadline) }
        return token
    }

    func cancel(_ token: UInt64) { state.withLock { $0.calls[token] = nil } }

    private func setAlarm(at deadline: PostgresDeadline) {
        queue.asyncAfter(deadline: deadline.dispatchTime) { self.wake(at: deadline) }
    }

    private func wake(at alarm: PostgresDeadline) {
        let (due, next) = state.withLock { state in
            let due = state.calls.filter { $0.value.deadline.hasPassed }
            for token in due.keys { state.calls[token] = nil }
            // This timer was replaced by one for an earlier deadline, which sets the next timer.
            guard state.alarm == alarm else { return (due, PostgresDeadline?.none) }
            state.alarm = state.calls.values.lazy.map(\.deadline).min()
            return (due, state.alarm)
        }
        for (_, entry) in due { entry.call() }
        if let next { setAlarm(at: next) }
    }
}
#endif
