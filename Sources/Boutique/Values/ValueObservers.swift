import Bodega
import Dispatch

/// The observers that a ``ValueStorage`` has in this process.
///
/// A change that this process makes is told by the call that makes it, before it returns. What notices changes by others,
/// such as a watch of a file, notices this one, too, on a thread of its own. If that thread told it, the call could return
/// before everybody has heard of it. So while a change is under way, others are not looked for; afterwards they are.
final class ValueObservers: Sendable {

    /// Reads a value and tells others if it has changed.
    ///
    /// - Parameter counts: Whether what has been read just now is to be told.
    typealias Observer = @Sendable (_ counts: () -> Bool) -> Void

    /// What goes on with a value.
    private struct Activity: Sendable {
        /// The number of changes by this process that are under way, and of those that have begun.
        var changes = 0
        var begun = 0
        /// The number of looks for changes by others that are under way.
        var looks = 0
        /// Whether a look was left out or did not count.
        var isLookMissing = false

        var isOver: Bool { changes == 0 && looks == 0 }
    }

    private struct State {
        var last = 0
        var observers: [String: [Int: Observer]] = [:]
        var activities: [String: Activity] = [:]
        /// The values that will be looked for soon.
        var planned: Set<String> = []

        func observers(of name: String) -> [Observer] { observers[name].map { Array($0.values) } ?? [] }
    }

    private let state = Locked(State())

    /// Has a closure called when a value may have changed, until the result is released.
    func add(_ name: String, _ onChange: @escaping Observer) -> ValueObservation {
        let number = state.withLock { state in
            state.last += 1
            state.observers[name, default: [:]][state.last] = onChange
            return state.last
        }
        return ValueObservation { [weak self] in
            // Released after the lock: what a closure holds can end other observations.
            _ = self?.state.withLock { state -> Observer? in
                let observer = state.observers[name]?.removeValue(forKey: number)
                if state.observers[name]?.isEmpty == true { state.observers[name] = nil }
                return observer
            }
        }
    }

    /// Makes a change of a value and calls its observers.
    ///
    /// - Parameter body: Makes the change. It calls the closure that it is given as soon as nobody else can make one.
    func changing(_ name: String, _ body: (_ begin: () -> Void) throws -> Void) rethrows {
        var hasBegun = false
        defer { if hasBegun { end(\.changes, name) } }
        try body {
            hasBegun = true
            state.withLock { state in
                state.activities[name, default: Activity()].changes += 1
                state.activities[name]?.begun += 1
            }
        }
        for observer in state.withLock({ $0.observers(of: name) }) { observer { true } }
    }

    /// Calls the observers of a value that others may have changed.
    func lookForOthers(_ name: String) {
        let look = state.withLock { state -> (observers: [Observer], begun: Int)? in
            var activity = state.activities[name] ?? Activity()
            defer { state.activities[name] = activity }
            if activity.changes > 0 {
                activity.isLookMissing = true
                return nil
            }
            activity.looks += 1
            return (state.observers(of: name), activity.begun)
        }
        guard let (observers, begun) = look else { return }
        defer { end(\.looks, name) }
        for observer in observers { observer { isUndisturbed(name, since: begun) } }
    }

    /// Calls the observers of a value that others may have changed, but not while who asks for it waits. Who asks many times
    /// has them called once.
    func planLook(_ name: String) {
        if !state.withLock({ $0.planned.insert(name).inserted }) { return }
        foreignChangeQueue.async { [self] in
            state.withLock { _ = $0.planned.remove(name) }
            lookForOthers(name)
        }
    }

    /// Calls the observers of all values.
    func lookForOthers() {
        for name in state.withLock({ Array($0.observers.keys) }) { lookForOthers(name) }
    }

    private func isUndisturbed(_ name: String, since begun: Int) -> Bool {
        state.withLock { state in
            if state.activities[name]?.begun == begun { return true }
            state.activities[name]?.isLookMissing = true
            return false
        }
    }

    private func end(_ kind: any WritableKeyPath<Activity, Int> & Sendable, _ name: String) {
        let isLookMissing = state.withLock { state in
            guard var activity = state.activities[name] else { return false }
            activity[keyPath: kind] -= 1
            state.activities[name] = activity.isOver ? nil : activity
            return activity.isOver && activity.isLookMissing
        }
        if isLookMissing { planLook(name) }
    }
}
