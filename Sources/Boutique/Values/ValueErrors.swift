import Bodega
import Logging

/// The last read and write error of a value. The Observation framework tracks it; `state` guards it.
final class ValueErrors: Sendable {
    private struct State {
        var readError: (any Error)?
        var writeError: (any Error)?
    }

    private let key: String
    private let state = Locked(State())
    private let observation = ObservationPoint()

    init(key: String) {
        self.key = key
    }

    /// The error of the last write or read; `nil` if both succeeded.
    var last: (any Error)? {
        observation.access()
        return state.withLock { $0.writeError ?? $0.readError }
    }

    /// Records the outcome of a read, and logs the first of consecutive failures.
    func noteRead(_ error: (any Error)?) {
        let isFirst = note(\.readError, error)
        if let error, isFirst {
            boutiqueLogger.error("A stored value could not be read.", metadata: ["key": "\(key)", "error": "\(error)"])
        }
    }

    /// Records the outcome of a write.
    func noteWrite(_ error: (any Error)?) {
        note(\.writeError, error)
    }

    /// Writes, and logs an error, which the caller does not receive.
    func loggingWrite(_ write: () throws -> Void) {
        do {
            try write()
        } catch {
            boutiqueLogger.error(
                "A value could not be stored. The previous value is unchanged.",
                metadata: ["key": "\(key)", "error": "\(error)"])
        }
    }

    /// - Returns: Whether there was no error before.
    @discardableResult
    private func note(_ property: any WritableKeyPath<State, (any Error)?> & Sendable, _ error: (any Error)?) -> Bool {
        let old = state.withLock { $0[keyPath: property] }
        if old == nil && error == nil { return true }
        // A view that reads the value and shows its error must not be re-rendered by its own read.
        let isChange = old.map(Self.kind) != error.map(Self.kind)
        if isChange { observation.willChange() }
        state.withLock { $0[keyPath: property] = error }
        if isChange { observation.didChange() }
        return old == nil
    }

    private static func kind(_ error: any Error) -> String {
        switch error {
        case let error as StorageError: "\(error.code)"
        case let error as KeychainError: "\(error.code)"
        default: "\(type(of: error))"
        }
    }

    /// Reads, and records the outcome.
    func noting<Result>(_ read: () throws -> Result) throws -> Result {
        do {
            let result = try read()
            noteRead(nil)
            return result
        } catch {
            noteRead(error)
            throw error
        }
    }
}
