import Foundation
import Logging

// The experiments of ``IndexExperiment``.

extension IndexTrusts {

    /// Returns the indexes that queries can use.
    func trusted<Object>(_ indexes: [Index<Object>]) -> [Index<Object>] {
        if indexes.isEmpty { return [] }
        return zip(indexes, trusts(for: Object.self)).filter { $1 == .trusted }.map { $0.0 }
    }

    /// Whether searches in objects of a type can use an index.
    func trustsSearch(of type: (some Decodable).Type) -> Bool {
        let (count, trusts) = (type.queryIndexes.count, trusts(for: type))
        return count < trusts.count && trusts[count] == .trusted
    }

    private static let isAnotherText: Logger.Message = """
        Searches do not use an index, because a searchable property has a text that is not the one in its member. \
        Declare it with the path at which the type and the coder store the property, and write records again that an \
        earlier version of the type has written with another member.
        """

    /// Lets searches in objects of a type no longer use an index.
    func distrustSearch(of type: (some Decodable).Type) {
        guard distrust(type.queryIndexes.count, of: type) else { return }
        logger.error(Self.isAnotherText, metadata: ["type": "\(type)"])
    }

    private static let isElsewhere: Logger.Message = """
        An index is not used, because its property has a value that is not in its member, or not in the form that the \
        coder gives it. Declare the index with the path at which the type and the coder store the property.
        """

    private static let isNotKept: Logger.Message = """
        A reference is not kept, because its property has a value that is not in its member, or not in the form that \
        the coder gives it. Declare the reference with the path at which the type and the coder store the property.
        """

    private static let isLeftOut: Logger.Message = """
        An index is not used, because the type leaves its member out for a value of the optional property, such as a \
        default, so that a record without the member need not have nil. Encode the member for each value but nil, or \
        declare no index.
        """

    /// Finds out what an object shows about the indexes of its type.
    func learn<Object: Codable>(from object: Object, coder: JSONObjectCoder) {
        let indexes = Object.queryIndexes
        var trusts = trusts(for: Object.self)
        // The last one is that of the index for searches.
        let count = indexes.count + (Object.searchIndex == nil ? 0 : 1)
        if trusts.count != count { trusts = Array(repeating: nil, count: count) }
        var isSearchViolated = false
        if count > indexes.count, trusts[indexes.count] == nil {
            trusts[indexes.count] = SearchExperiment<Object>(coder: coder).outcome(for: object)
            isSearchViolated = trusts[indexes.count] == .doubtful
        }
        var violations: [(index: Index<Object>, message: Logger.Message)] = []
        for (number, index) in indexes.enumerated() where trusts[number] == nil {
            switch IndexExperiment(index: index, coder: coder).outcome(for: object) {
            case .unknown: break
            case .determined: trusts[number] = .trusted
            case .notDetermined: trusts[number] = .doubtful
            case .storedElsewhere:
                trusts[number] = .doubtful
                let isReference = Object.storageReferences.contains { index.storageIndex.isOver($0.path) }
                violations.append((index, isReference ? Self.isNotKept : Self.isElsewhere))
            case .leftOut:
                trusts[number] = .doubtful
                violations.append((index, Self.isLeftOut))
            }
        }
        guard add(trusts, for: Object.self) else { return }
        if isSearchViolated {
            logger.error(Self.isAnotherText, metadata: ["type": "\(Object.self)"])
        }
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
