import Bodega
import Logging

/// What went wrong with a value last. The Observation framework tracks it.
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

    /// Why a read or write failed; `nil` if the last ones succeeded.
    var last: (any Error)? {
        observation.access()
        return state.withLock { $0.writeError ?? $0.readError }
    }

    /// Notes whether a read failed, and logs the first failure in a row.
    func noteRead(_ error: (any Error)?) {
        let isFirst = note(\.readError, error)
        if let error, isFirst {
            boutiqueLogger.error("A stored value could not be read.", metadata: ["key": "\(key)", "error": "\(error)"])
        }
    }

    /// Notes whether a write failed.
    func noteWrite(_ error: (any Error)?) {
        note(\.writeError, error)
    }

    /// Logs that a write failed whose caller does not get to see the error.
    func logWrite(_ error: any Error) {
        boutiqueLogger.error(
            "A value could not be stored; the previous one stays.", metadata: ["key": "\(key)", "error": "\(error)"])
    }

    /// - Returns: Whether there was no error before.
    @discardableResult
    private func note(_ property: any WritableKeyPath<State, (any Error)?> & Sendable, _ error: (any Error)?) -> Bool {
        let old = state.withLock { $0[keyPath: property] }
        if old == nil && error == nil { return true }
        // Views read values. One that shows the error must not be told to show it again because it has read the value.
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

    /// Reads, and notes whether that failed.
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
