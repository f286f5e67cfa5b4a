import Bodega
import Foundation
import TestSupport
import Testing

/// Queries about two properties, each of which has an index. The oracle is an array.
@Suite(.serialized, .unhurriedReads) struct IntersectionTests {

    private struct Part: Queryable, Sendable, Equatable {
        var id: Int
        var color: String
        var size: Int?
        var weight: Int

        static let indexes = [
            Index("color", \Part.color), Index("size", \Part.size), Index("weight", \Part.weight),
            Index("color", \Part.color).then("weight", \Part.weight),
        ]

        init(_ id: Int) {
            self.id = id
            // The first spelling is one about which an index for text knows nothing.
            color = id % 1_000 == 7 ? "e\u{301}" : ["red", "green", "\u{E9}"][id % 3]
            size = id % 17 == 4 ? nil : id / 3 % 20
            weight = id / 60 % 20
        }
    }

    private struct Case {
        let query: Query<Part>
        let isMatch: (Part) -> Bool
        /// The maximum number of rows that a fetch of all matches reads.
        let rows: Int
    }

    private static var cases: [Case] {
        let accented = "\u{E9}"
        return [
            Case(
                query: Query(where: #Predicate { $0.size == 3 && $0.weight == 5 }),
                isMatch: { $0.size == 3 && $0.weight == 5 }, rows: 32),
            Case(
                query: Query(
                    where: #Predicate { $0.size == 3 && $0.weight == 5 },
                    sortedBy: SortDescriptor(\.id, order: .reverse)),
                isMatch: { $0.size == 3 && $0.weight == 5 }, rows: 32),
            Case(
                query: Query(where: #Predicate { $0.size == nil && $0.weight < 2 }),
                isMatch: { $0.size == nil && $0.weight < 2 }, rows: 80),
            // The index over both finds so few items that they are read.
            Case(
                query: Query(where: #Predicate { $0.color == accented && $0.weight == 4 && $0.size == 19 }),
                isMatch: { $0.color == accented && $0.weight == 4 && $0.size == 19 }, rows: 212),
            Case(
                query: Query(where: #Predicate { $0.weight == 4 && ($0.size == 1 || $0.size == 2) }),
                isMatch: { $0.weight == 4 && ($0.size == 1 || $0.size == 2) }, rows: 64),
            Case(
                query: Query(where: #Predicate { $0.size == 3 || $0.weight == 5 }),
                isMatch: { $0.size == 3 || $0.weight == 5 }, rows: 12_000),
        ]
    }

    @Test("An item that one of two indexes does not find is not read", arguments: [false, true])
    func rows(isInMemory: Bool) async throws {
        let folder = TemporaryFolder()
        let parts = (0..<12_000).map { Part($0) }
        let engine = CountingItems(
            of: isInMemory
                ? MemoryStorageEngine()
                : try SQLiteStorageEngine(openingFile: folder.file("parts"), durability: .relaxed))
        let storage = ObjectStorage<Part>(storage: engine)
        try await storage.store(parts.map { (CacheKey("\($0.id)"), $0) })
        try await storage.createIndexes()
        for (number, test) in Self.cases.enumerated() {
            let matches = parts.filter(test.isMatch)
            let expected = number == 1 ? Array(matches.reversed()) : matches
            _ = engine.take()
            let found = try await storage.fetch(test.query).objects
            #expect(found == expected, "case \(number)")
            let rows = engine.take()
            // Other engines may read all that one index finds.
            if !isInMemory { #expect(rows <= test.rows, "case \(number)") }
            let page = try await storage.fetch(test.query, limit: 10).objects
            #expect(page == Array(expected.prefix(10)), "case \(number)")
            #expect(try await storage.count(test.query) == expected.count, "case \(number)")
        }
    }
}
