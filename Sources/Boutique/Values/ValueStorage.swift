import Bodega
import Foundation

/// A place that keeps the bytes of values under names and is read and written without waiting: user defaults, a file, a
/// keychain.
///
/// Several values, also several wrappers of one value, share a place. Its methods may be called from any thread.
protocol ValueStorage: Sendable {

    /// Reads the bytes of a value.
    ///
    /// It is called each time that the value is read, so it must be fast while nothing changes.
    ///
    /// - Returns: The bytes, whoever wrote them last; `nil` if there are none.
    /// - Throws: What kept it from finding out. Absence is no error. A ``DamagedValue`` if there are bytes that cannot be
    ///   had; then ``save(_:_:)`` keeps them in a place of their own before it writes others.
    func load(_ name: String) throws -> Data?

    /// Replaces the bytes of a value, all or nothing. Only called within ``exclusively(_:)``.
    ///
    /// - Parameter data: The bytes, or `nil` to remove the value.
    func save(_ data: Data?, _ name: String) throws

    /// Keeps other threads, and other processes if the place can, from changing anything during a closure.
    ///
    /// The closure may call this method again. Reading is not kept from anybody.
    func exclusively<Result>(_ body: () throws -> Result) throws -> Result

    /// Calls a closure whenever ``announceChange(of:)`` is called for a name, and, where that can be noticed, after
    /// others have changed what is stored, until the result is released.
    func observe(_ name: String, _ onChange: @escaping @Sendable () -> Void) -> ValueObservation

    /// Calls the observers of a name. The one who saves does this, after ``exclusively(_:)`` has returned.
    func announceChange(of name: String)
}

/// Says that a value has bytes which are damaged below the level of the value.
struct DamagedValue: Error {
    var cause: any Error
}

/// Ends an observation when it is released.
final class ValueObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}

/// The observers that a ``ValueStorage`` has in this process.
final class ValueObservers: Sendable {
    private struct State {
        var last = 0
        var closures: [String: [Int: @Sendable () -> Void]] = [:]
    }

    private let state = Locked(State())

    func add(_ name: String, _ onChange: @escaping @Sendable () -> Void) -> ValueObservation {
        let number = state.withLock { state in
            state.last += 1
            state.closures[name, default: [:]][state.last] = onChange
            return state.last
        }
        return ValueObservation { [weak self] in
            // Released after the lock: what a closure holds can end other observations.
            _ = self?.state.withLock { state -> (@Sendable () -> Void)? in
                let closure = state.closures[name]?.removeValue(forKey: number)
                if state.closures[name]?.isEmpty == true { state.closures[name] = nil }
                return closure
            }
        }
    }

    func announceChange(of name: String) {
        for closure in state.withLock({ $0.closures[name].map { Array($0.values) } ?? [] }) { closure() }
    }

    /// Tells all observers of all names.
    func announceChanges() {
        for closure in state.withLock({ $0.closures.values.flatMap(\.values) }) { closure() }
    }
}
