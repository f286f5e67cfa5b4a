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

    /// Who in this process observes the values of this place.
    var observers: ValueObservers { get }

    /// Has a closure called after ``change(_:_:then:)`` has changed a value, and, where that can be noticed, after others
    /// have, until the result is released.
    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation
}

extension ValueStorage {

    /// Changes a value in one step, and calls its observers before it returns.
    ///
    /// - Parameters:
    ///   - name: The name of the value.
    ///   - body: Saves the value, ``exclusively(_:)``.
    ///   - tell: Is called before the observers, if the body has not thrown.
    func change(_ name: String, _ body: () throws -> Void, then tell: () -> Void) throws {
        try observers.changing(name) { begin in
            try exclusively {
                begin()
                try body()
            }
            tell()
        }
    }
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
