import Foundation
import Logging

/// What a coder has shown about the indexes that types declare.
///
/// An index can only find what it knows: the member in the JSON. Whether that member determines the property is up to
/// the type's `Decodable` and `Encodable`, so it is found out by experiment, once for each type and coder, with the
/// first objects that are encoded or read.
final class IndexTrusts: Sendable {

    /// Whether an index can be used.
    enum Trust: Sendable {
        /// The member determines the property.
        case trusted
        /// It does not, or not in all records. Queries act as if the index did not exist.
        case doubtful
    }

    private struct State {
        /// The indexes of a type in the order of their declaration; `nil` if nothing is known yet.
        var trusts: [Trust?]
        /// The number of objects that were examined.
        var attempts = 0

        var isComplete: Bool { attempts >= IndexTrusts.maximumAttempts || trusts.allSatisfy { $0 != nil } }
    }

    /// The number of objects after which nothing more is learnt from others, because their properties are always `nil`.
    private static let maximumAttempts = 256

    private let states = Locked<[ObjectIdentifier: State]>([:])
    let logger: Logger

    init(logger: Logger = bodegaLogger) {
        self.logger = logger
    }

    /// Whether all is known about the indexes of a type.
    func isComplete(for type: Any.Type) -> Bool {
        states.withLock { $0[ObjectIdentifier(type)]?.isComplete ?? false }
    }

    /// What is known about the indexes of a type, in the order of their declaration; empty if nothing is known.
    func trusts(for type: Any.Type) -> [Trust?] {
        states.withLock { $0[ObjectIdentifier(type)]?.trusts ?? [] }
    }

    /// Distrusts an index of a type.
    ///
    /// - Returns: Whether that was new.
    func distrust(_ number: Int, of type: Any.Type) -> Bool {
        states.withLock { states in
            guard let trusts = states[ObjectIdentifier(type)]?.trusts, number < trusts.count,
                trusts[number] != .doubtful
            else { return false }
            states[ObjectIdentifier(type)]?.trusts[number] = .doubtful
            return true
        }
    }

    /// Adds what an object has shown about the indexes of a type.
    ///
    /// - Returns: Whether that was new. Another thread may have found out the same in the meantime.
    func add(_ trusts: [Trust?], for type: Any.Type) -> Bool {
        states.withLock { states in
            let id = ObjectIdentifier(type)
            let old = states[id] ?? State(trusts: Array(repeating: nil, count: trusts.count))
            let merged = zip(old.trusts, trusts).map { $0 ?? $1 }
            states[id] = State(trusts: merged, attempts: old.attempts + 1)
            return merged != old.trusts
        }
    }
}
