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

    static func path(of steps: [ModelValue.Step]) -> String {
        StorageIndex.path(of: steps.map { if case .name(let name) = $0 { name } else { "" } })
    }
}
