import Bodega
import Foundation

/// A synchronous storage for the bytes of values under names: user defaults, a file, a keychain.
///
/// Several values, and several wrappers of one value, share a storage. Its methods may be called from any thread.
protocol ValueStorage: Sendable {

    /// Reads the bytes of a value.
    ///
    /// It is called each time the value is read, so it must be fast while nothing changes.
    ///
    /// - Returns: The bytes, including those that other processes have written; `nil` if there are none.
    /// - Throws: The error that prevented reading; absence is no error. A ``DamagedValue`` if bytes are stored but
    ///   cannot be recovered; then ``save(_:_:)`` moves them aside before it writes new ones.
    func load(_ name: String) throws -> Data?

    /// Returns what replaces the stored bytes of a value in this process without being stored, such as a launch
    /// argument.
    ///
    /// - Parameter stored: The stored bytes.
    /// - Returns: Bytes in each form in which they may be decoded; the first that can be decoded counts. An empty array
    ///   if the stored bytes count.
    func presets(_ name: String, insteadOf stored: Data?) -> [Data]

    /// Replaces the bytes of a value, all or nothing. Only called within ``exclusively(_:)``.
    ///
    /// - Parameter data: The bytes, or `nil` to remove the value.
    func save(_ data: Data?, _ name: String) throws

    /// Waits until all changes that were made before the call survive a power failure.
    func flush() throws

    /// Keeps other threads, and if possible other processes, from writing during a closure.
    ///
    /// The closure may call this method again. Readers are not blocked.
    func exclusively<Result>(_ body: () throws -> Result) throws -> Result

    /// The observers of the values of this storage in this process.
    var observers: ValueObservers { get }

    /// Calls a closure after ``change(_:_:then:)`` has changed a value, and after foreign changes where they can be
    /// detected, until the returned observation is released.
    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation
}

extension ValueStorage {

    func presets(_ name: String, insteadOf stored: Data?) -> [Data] { [] }

    /// Does nothing: ``save(_:_:)`` has waited.
    func flush() throws {}

    /// Changes a value atomically with a closure that is called within ``exclusively(_:)``. Unless it throws, the
    /// method calls `publish`, then the observers, before it returns.
    func change(_ name: String, _ body: () throws -> Void, then publish: () -> Void) throws {
        try observers.changing(name) { begin in
            try exclusively {
                begin()
                try body()
            }
            publish()
        }
    }
}

/// The error for bytes that are damaged below the level of the value.
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
