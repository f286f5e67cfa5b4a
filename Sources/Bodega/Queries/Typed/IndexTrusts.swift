import Foundation
import Logging

/// What a coder has shown about the indexes that types declare.
///
/// An index can only find what it knows: the member in the JSON. Whether that member determines the property is up to the
/// type's `Decodable` and `Encodable`, so it is found out by experiment, once for each type and coder, with the first
/// objects that are encoded or read. See ``IndexExperiment``.
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
    private let logger: Logger

    init(logger: Logger = bodegaLogger) {
        self.logger = logger
    }

    /// Whether all is known about the indexes of a type.
    func isComplete(for type: Any.Type) -> Bool {
        states.withLock { $0[ObjectIdentifier(type)]?.isComplete ?? false }
    }

    /// Returns the indexes that queries can use.
    func trusted<Object>(_ indexes: [Index<Object>]) -> [Index<Object>] {
        if indexes.isEmpty { return [] }
        let trusts = states.withLock { $0[ObjectIdentifier(Object.self)]?.trusts ?? [] }
        return zip(indexes, trusts).filter { $1 == .trusted }.map { $0.0 }
    }

    private static let isElsewhere: Logger.Message = """
        An index is not used, because its property has a value that is not in its member, or not in the form that the \
        coder gives it. Declare the index with the path at which the type and the coder store the property.
        """

    private static let isLeftOut: Logger.Message = """
        An index is not used, because the type leaves its member out for a value of the optional property, such as a \
        default, so that a record without the member need not have nil. Encode the member for each value but nil, or \
        declare no index.
        """

    /// Finds out what an object shows about the indexes of its type.
    func learn<Object: Codable>(from object: Object, coder: JSONObjectCoder) {
        let id = ObjectIdentifier(Object.self)
        let indexes = Object.queryIndexes
        var trusts = states.withLock { $0[id]?.trusts } ?? []
        if trusts.count != indexes.count { trusts = Array(repeating: nil, count: indexes.count) }
        var violations: [(index: Index<Object>, message: Logger.Message)] = []
        for (number, index) in indexes.enumerated() where trusts[number] == nil {
            switch IndexExperiment(index: index, coder: coder).outcome(for: object) {
            case .unknown: break
            case .determined: trusts[number] = .trusted
            case .notDetermined: trusts[number] = .doubtful
            case .storedElsewhere:
                trusts[number] = .doubtful
                violations.append((index, Self.isElsewhere))
            case .leftOut:
                trusts[number] = .doubtful
                violations.append((index, Self.isLeftOut))
            }
        }
        // Another thread may have learnt the same in the meantime, and reported it.
        let isNew = states.withLock { [trusts] states in
            let old = states[id] ?? State(trusts: Array(repeating: nil, count: trusts.count))
            let merged = zip(old.trusts, trusts).map { $0 ?? $1 }
            states[id] = State(trusts: merged, attempts: old.attempts + 1)
            return merged != old.trusts
        }
        guard isNew else { return }
        for violation in violations {
            logger.error(
                violation.message,
                metadata: [
                    "type": "\(Object.self)", "path": "\(violation.index.storageIndex.path)",
                    "property": "\(violation.index.keyPath)",
                ])
        }
    }
}

extension ObjectCoder {
    /// Finds out what objects show about the indexes of their type, until all is known.
    func learn<Object: Encodable>(from objects: some Sequence<Object>) {
        func learn<Known: Queryable>(_ type: Known.Type, _ coder: JSONObjectCoder) {
            // An object whose property is nil shows less than another one.
            for object in objects.prefix(16) {
                guard let object = object as? Known else { return }
                coder.trusts.learn(from: object, coder: coder)
                if coder.trusts.isComplete(for: type) { return }
            }
        }
        guard let coder = self as? JSONObjectCoder, let type = Object.self as? any Queryable.Type,
            !coder.trusts.isComplete(for: type)
        else { return }
        learn(type, coder)
    }
}
