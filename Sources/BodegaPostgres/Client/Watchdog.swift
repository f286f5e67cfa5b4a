#if Postgres
import Bodega
import Dispatch

/// Calls back what is still under way when its time is over.
///
/// Setting a timer costs more than a read, and hardly anything is ever late. So one timer stands for all: it is set for
/// the earliest deadline, and not moved when that one is called off.
final class Watchdog: Sendable {

    static let shared = Watchdog()

    private struct State {
        var calls: [UInt64: (deadline: PostgresDeadline, call: @Sendable () -> Void)] = [:]
        var nextToken: UInt64 = 0
        var alarm: PostgresDeadline?
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "emporium.postgres.watchdog")

    /// Asks for a call when a deadline has passed.
    ///
    /// - Returns: What to call it off with.
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

    func callOff(_ token: UInt64) {
        state.withLock { $0.calls[token] = nil }
    }

    private func setAlarm(at deadline: PostgresDeadline) {
        queue.asyncAfter(deadline: deadline.dispatchTime) { self.wake(at: deadline) }
    }

    private func wake(at alarm: PostgresDeadline) {
        let (due, next) = state.withLock { state in
            let due = state.calls.filter { $0.value.deadline.hasPassed }
            for token in due.keys { state.calls[token] = nil }
            // An alarm that was set before an earlier one came in still rings, and has nothing to set.
            guard state.alarm == alarm else { return (due, PostgresDeadline?.none) }
            state.alarm = state.calls.values.lazy.map(\.deadline).min()
            return (due, state.alarm)
        }
        for (_, entry) in due { entry.call() }
        if let next { setAlarm(at: next) }
    }
}
#endif
