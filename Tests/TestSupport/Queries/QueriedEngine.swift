package import Bodega

/// An engine that random queries are compared in.
package struct QueriedEngine: Sendable {
    package let name: String
    package let engine: any StorageEngine
    /// How many queries in a row run in the engine.
    package let share: Int
    /// Whether an index counts documents whose bytes would be JSON if they were UTF-8.
    package let countsInvalidUTF8: Bool

    package init(_ name: String, _ engine: any StorageEngine, share: Int = 1, countsInvalidUTF8: Bool = false) {
        (self.name, self.engine, self.share, self.countsInvalidUTF8) = (name, engine, share, countsInvalidUTF8)
    }

    /// Creates an index over each member of ``ModelSamples``.
    package static func createIndexes(
        of engine: any StorageBackend, over paths: [[ModelValue.Step]] = ModelSamples.paths,
        forText isForText: Bool
    ) async throws {
        for steps in paths { try await engine.createIndex(StorageIndex(path(of: steps), isForText: isForText)) }
    }

    /// Creates indexes over several members of ``ModelSamples``.
    package static func createCompoundIndexes(of engine: any StorageBackend) async throws {
        let paths = ModelSamples.paths.map(path)
        for numbers in ModelSamples.compoundPaths {
            // One member in two is prepared for comparison as Swift compares texts.
            let members = numbers.map { StorageIndex.Member(paths[$0], isForText: $0 % 2 == 0) }
            try await engine.createIndex(StorageIndex(members[0], Array(members.dropFirst())))
        }
    }

    /// Creates indexes of some documents of ``ModelSamples``.
    package static func createPartialIndexes(of engine: any StorageBackend) async throws {
        let paths = ModelSamples.paths.map(path)
        for (number, partial) in ModelSamples.partialIndexes.enumerated() {
            let members = partial.order.map { StorageIndex.Member(paths[$0], isForText: number % 2 == 0) }
            var index = StorageIndex(members[0], Array(members.dropFirst()))
            for term in partial.condition {
                index = index.where(paths[term.path], equals: key(of: term.value), isForText: number % 3 == 0)
            }
            try await engine.createIndex(index)
        }
    }

    /// The sort key of a value in the condition of an index.
    private static func key(of value: ModelValue) -> StorageSortKey {
        switch value {
        case .bool(let bool): .integer(bool ? 1 : 0)
        case .number(let text): Int64(text).map { .integer($0) } ?? .none
        case .string(let scalars, _): .text(String(String.UnicodeScalarView(scalars)))
        case .null, .broken, .array, .object: .none
        }
    }

    static func path(of steps: [ModelValue.Step]) -> String {
        StorageIndex.Member.path(of: steps.map { if case .name(let name) = $0 { name } else { "" } })
    }
}
