import Bodega
import Dispatch

/// The observers of the values of a ``ValueStorage`` in this process.
///
/// The call that makes a change notifies all observers before it returns. A file watch reports the same change, too, on
/// a thread of its own; if that thread notified the observers, the call could return before all of them were notified.
/// So checks for foreign changes are postponed while this process changes the value:
///
/// 1. ``changing(_:_:)`` counts the change as soon as the writer has exclusive access to the storage.
/// 2. A check that arrives now is only noted. A check that has begun before loses its result: `isCurrent` is `false`.
/// 3. The writer notifies the observers and ends the change.
/// 4. If a check was noted or has lost its result, it runs later on ``foreignChangeQueue``.
///
/// `state` guards everything. No lock is held while observers run.
final class ValueObservers: Sendable {

    /// Reads a value and publishes it if it has changed.
    ///
    /// - Parameter isCurrent: Returns whether the bytes that the observer has just read may be published.
    typealias Observer = @Sendable (_ isCurrent: () -> Bool) -> Void

    /// The operations on one value that are in progress.
    private struct Activity: Sendable {
        /// The number of changes by this process in progress, and of those started so far.
        var changes = 0
        var started = 0
        /// The number of checks for foreign changes in progress.
        var checks = 0
        /// Whether a check was postponed or has lost its result.
        var needsCheck = false

        var isOver: Bool { changes == 0 && checks == 0 }
    }

    private struct State {
        var last = 0
        var observers: [ExactText: [Int: Observer]] = [:]
        var activities: [ExactText: Activity] = [:]
        /// The values with a scheduled check.
        var scheduled: Set<ExactText> = []

        func observers(of name: ExactText) -> [Observer] { observers[name].map { Array($0.values) } ?? [] }
    }

    private let state = Locked(State())

    /// Calls a closure when a value may have changed, until the returned observation is released.
    func add(_ name: String, _ onChange: @escaping Observer) -> ValueObservation {
        let name = ExactText(name)
        let number = state.withLock { state in
            state.last += 1
            state.observers[name, default: [:]][state.last] = onChange
            return state.last
        }
        return ValueObservation { [weak self] in
            // Released after the lock: releasing the closure can end other observations.
            _ = self?.state.withLock { state -> Observer? in
                let observer = state.observers[name]?.removeValue(forKey: number)
                if state.observers[name]?.isEmpty == true { state.observers[name] = nil }
                return observer
            }
        }
    }

    /// Makes a change of a value and calls its observers.
    ///
    /// - Parameter body: Makes the change. It calls its argument as soon as it has exclusive access to the storage.
    func changing(_ name: String, _ body: (_ begin: () -> Void) throws -> Void) rethrows {
        let name = ExactText(name)
        var hasBegun = false
        defer { if hasBegun { end(\.changes, name) } }
        try body {
            hasBegun = true
            state.withLock { state in
                state.activities[name, default: Activity()].changes += 1
                state.activities[name]?.started += 1
            }
        }
        for observer in state.withLock({ $0.observers(of: name) }) { observer { true } }
    }

    /// Calls the observers of a value that another process may have changed.
    func checkForForeignChanges(_ name: String) { checkForForeignChanges(ExactText(name)) }

    private func checkForForeignChanges(_ name: ExactText) {
        let check = state.withLock { state -> (observers: [Observer], started: Int)? in
            var activity = state.activities[name] ?? Activity()
            defer { state.activities[name] = activity }
            if activity.changes > 0 {
                activity.needsCheck = true
                return nil
            }
            activity.checks += 1
            return (state.observers(of: name), activity.started)
        }
        guard let (observers, started) = check else { return }
        defer { end(\.checks, name) }
        for observer in observers { observer { isUndisturbed(name, since: started) } }
    }

    /// Checks a value on ``foreignChangeQueue``, so that the caller does not wait. Pending checks are merged.
    func scheduleCheck(_ name: String) { scheduleCheck(ExactText(name)) }

    private func scheduleCheck(_ name: ExactText) {
        if !state.withLock({ $0.scheduled.insert(name).inserted }) { return }
        foreignChangeQueue.async { [self] in
            state.withLock { _ = $0.scheduled.remove(name) }
            checkForForeignChanges(name)
        }
    }

    /// Calls the observers of some values, by default of all.
    ///
    /// - Parameter names: The names of values; `nil` for all.
    func checkForForeignChanges(of names: Set<ExactText>? = nil) {
        let observed = state.withLock { state in
            names.map { names in names.filter { state.observers[$0] != nil } } ?? Set(state.observers.keys)
        }
        for name in observed { checkForForeignChanges(name) }
    }

    private func isUndisturbed(_ name: ExactText, since started: Int) -> Bool {
        state.withLock { state in
            if state.activities[name]?.started == started { return true }
            state.activities[name]?.needsCheck = true
            return false
        }
    }

    private func end(_ kind: any WritableKeyPath<Activity, Int> & Sendable, _ name: ExactText) {
        let needsCheck = state.withLock { state in
            guard var activity = state.activities[name] else { return false }
            activity[keyPath: kind] -= 1
            state.activities[name] = activity.isOver ? nil : activity
            return activity.isOver && activity.needsCheck
        }
        if needsCheck { scheduleCheck(name) }
    }
}
