import Foundation
import TestSupport
import Testing

@testable import Bodega

/// The number of items that a query reports to have read. The oracle is SQLite, which reports each row of a statement.
@Suite(.serialized, .unhurriedReads) struct ReadCountTests {

    @Test(arguments: [
        (limit: 5, place: 900, isSorted: true), (5, 0, true), (.max, 950, true), (.max, 990, false), (20, 0, false),
        (5, 1_000, true),
    ])
    func `A reader counts the rows that SQLite returns`(limit: Int, place: Int, isSorted: Bool) async throws {
        let folder = TemporaryFolder()
        let file = folder.file("items")
        let rows = StatementTrace(of: file, .rows, ofStatementsBeginningWith: "SELECT key, kind, value")
        defer { rows.end() }
        let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
        try await engine.write((0..<1_000).map { (CacheKey("\($0)"), Data("{\"n\":\($0 * 7 % 1_000)}".utf8)) })
        try await engine.createIndex(StorageIndex("n", isForText: false))
        let examined = Locked(0)
        let path = MemberPath("n")
        let keys = StorageSortKeyRanges(.before(.integer(Int64(place))), .before(.text("")))
        let query = StorageQuery<CacheKey>(
            condition: .member(path: path, possible: keys, certain: keys, needsTextIndex: false),
            order: isSorted ? [QueryTerm(path: "n", isDescending: false)] : []
        ) { entry, receive in
            examined.withLock { $0 += 1 }
            let number = try JSONDecoder().decode([String: Int].self, from: entry.data)["n"] ?? 0
            guard number >= place else { return nil }
            receive(entry.key)
            return isSorted ? [.integer(Int64(number))] : []
        }
        let reader = StorageReader(engine)
        rows.reset()
        let found = try await query.page(from: reader, limit: limit, after: nil)
        #expect(found.matches.count == min(limit, 1_000 - place))
        #expect(reader.itemCount == rows.count)
        #expect(examined.withLock { $0 } == reader.itemCount)
    }

    private struct Part: Queryable, Sendable, Equatable {
        var id: Int
        var color: String
        var size: Int
        var weight: Int
        var isSold: Bool

        static let indexes = [
            Index("color", \Part.color).then("weight", \Part.weight), Index("size", \Part.size),
            Index("weight", \Part.weight), Index("id", \Part.id).where("isSold", \Part.isSold, equals: true),
        ]
        static let searchable = [Searchable("color", \Part.color)]

        init(_ id: Int) {
            self.id = id
            color = ["red", "green", "blue"][id % 3]
            size = id / 3 % 20
            weight = id / 60 % 20
            isSold = id % 10 == 0
        }
    }

    private struct Case {
        let query: Query<Part>
        let isMatch: (Part) -> Bool
        /// The rows that an index can't exclude.
        let isFound: (Part) -> Bool
    }

    private static var cases: [Case] {
        [
            // One prefix of an index, one range of it, and its order.
            Case(
                query: Query(
                    where: #Predicate { $0.color == "red" && $0.weight > 16 }, sortedBy: SortDescriptor(\.weight)),
                isMatch: { $0.color == "red" && $0.weight > 16 }, isFound: { $0.color == "red" && $0.weight > 16 }),
            Case(
                query: Query(
                    where: #Predicate { $0.color == "red" && $0.size == 7 },
                    sortedBy: SortDescriptor(\.weight, order: .reverse)),
                isMatch: { $0.color == "red" && $0.size == 7 }, isFound: { $0.color == "red" }),
            // An index of some items.
            Case(
                query: Query(where: #Predicate { $0.isSold && $0.id < 700 }, sortedBy: SortDescriptor(\.id)),
                isMatch: { $0.isSold && $0.id < 700 }, isFound: { $0.isSold && $0.id < 700 }),
            // Two indexes, whose results are intersected.
            Case(
                query: Query(where: #Predicate { $0.size == 3 && $0.weight == 5 }),
                isMatch: { $0.size == 3 && $0.weight == 5 }, isFound: { $0.size == 3 && $0.weight == 5 }),
            // No index.
            Case(
                query: Query(where: #Predicate { $0.id % 2 == 1 }), isMatch: { $0.id % 2 == 1 },
                isFound: { _ in true }),
            // The index for searches.
            Case(
                query: Query(where: #Predicate { $0.weight < 10 }).searching("blue"),
                isMatch: { $0.weight < 10 && $0.color == "blue" }, isFound: { $0.color == "blue" }),
        ]
    }

    @Test func `The count is that of SQLite for each kind of plan`() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("parts")
        let rows = StatementTrace(of: file, .rows, ofStatementsBeginningWith: "SELECT key, kind")
        defer { rows.end() }
        let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
        let storage = ObjectStorage<Part>(storage: engine)
        let parts = (0..<12_000).map { Part($0) }
        try await storage.store(parts.map { (CacheKey("\($0.id)"), $0) })
        try await storage.createIndexes()
        try await storage.learnFromStoredObjects()
        for (number, test) in Self.cases.enumerated() {
            let matches = parts.filter(test.isMatch)
            for limit in [10, Int.max] {
                let ranked = try await storage.ranked(test.query, fromOriginal: false)
                let running = try ranked.running(decodedBy: storage.coder, undecodable: nil)
                let reader = StorageReader(engine)
                rows.reset()
                let found = try await running.page(from: reader, limit: limit, after: nil)
                #expect(found.matches.count == min(limit, matches.count), "case \(number)")
                #expect(reader.itemCount == rows.count, "case \(number), \(found.plan.explanation)")
                // The first items are found sooner by one index than by both.
                if number != 3 || limit == .max {
                    #expect(rows.count <= parts.filter(test.isFound).count, "case \(number), \(found.plan.explanation)")
                }
                if limit == 10, !running.order.isEmpty, number != 1 {
                    #expect(rows.count <= limit + 1, "case \(number), \(found.plan.explanation)")
                }
            }
        }
    }
}
