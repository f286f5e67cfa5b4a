#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

private struct Note: Codable, Equatable, Sendable, Queryable {
    var id: UUID
    var title: String
    var due: Date?
    var rank: Int

    static let indexes = [
        Index("id", \Note.id), Index("title", \Note.title), Index("due", \Note.due), Index("rank", \Note.rank),
    ]
}

private struct Priced: Codable, Sendable, Queryable {
    var id: Int
    var number: Int
    var large: UInt64
    var title: String
    var price: Decimal
    var maybe: Double?

    static let indexes = [
        Index("number", \Priced.number), Index("large", \Priced.large), Index("title", \Priced.title),
        Index("price", \Priced.price), Index("maybe", \Priced.maybe),
    ]
}

@Suite
struct TypedPageTests {

    /// The oracle is `sorted(using:)` of Foundation.
    @Test func `Each property is in Swift's order`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "prices", options: .patient(maximumConnections: 2, partitions: 2))
        for index in Priced.indexes { try await engine.createIndex(index.storageIndex) }
        let numbers = [0, -1, .max, .min, 9_007_199_254_740_993, 9_007_199_254_740_992]
        let large: [UInt64] = [.max, .max - 1, 0, 1 << 63, (1 << 63) + 1, (1 << 63) - 1]
        let titles = ["a", "\u{E9}", "e\u{301}", "\u{212B}", "B", "", String(repeating: "x", count: 2_000)]
        let prices = ["27.27", "9.99", "0", "-5", "100", "12345678901234567890", "12345678901234567891"]
            .compactMap { Decimal(string: $0) }
        let all = (0..<60).map { id in
            Priced(
                id: id, number: numbers[id % 6], large: large[id * 5 % 6], title: titles[id % 7],
                price: prices[id * 3 % 7], maybe: id % 4 == 0 ? nil : Double(id % 9) + 0.1)
        }
        let storage = ObjectStorage<Priced>(storage: engine)
        try await storage.store(all.map { (CacheKey("\($0.id)"), $0) })
        for order in [SortOrder.forward, .reverse] {
            let descriptors = [
                SortDescriptor(\Priced.number, order: order), SortDescriptor(\Priced.large, order: order),
                SortDescriptor(\Priced.title, order: order), SortDescriptor(\Priced.price, order: order),
            ]
            for descriptor in descriptors {
                try await check(storage, descriptor, all.sorted(using: descriptor).map(\.id))
            }
            let byMaybe = SortDescriptor(\Priced.maybe, order: order)
            let expected =
                all.filter { $0.maybe != nil }.sorted(using: byMaybe).map(\.id)
                + all.filter { $0.maybe == nil }.map(\.id)
            try await check(storage, byMaybe, expected)
        }
        #expect(try await storage.maximum(of: \.large) == .max)
        #expect(try await storage.minimum(of: \.price) == -5)
    }

    private func check(
        _ storage: ObjectStorage<Priced>, _ descriptor: SortDescriptor<Priced>, _ expected: [Int]
    ) async throws {
        var found: [Int] = []
        var cursor: QueryCursor?
        repeat {
            let page = try await storage.fetch(Query(sortedBy: descriptor), limit: 17, after: cursor)
            found += page.objects.map(\.id)
            cursor = page.next
        } while cursor != nil && found.count <= expected.count
        #expect(found == expected, "\(descriptor)")
    }

    @Test func `Predicates and sort orders give the objects that they give in memory`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "notes", options: .patient(maximumConnections: 2, partitions: 2))
        for index in Note.indexes { try await engine.createIndex(index.storageIndex) }
        let notes = (0..<300).map { number in
            Note(
                id: UUID(), title: ["a", "é", "e\u{301}", "\u{212B}", "b\n", "日本", ""][number % 7],
                due: number % 5 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number % 50) + 0.1),
                rank: number % 11)
        }
        let stored = ObjectStorage<Note>(storage: engine)
        let memory = ObjectStorage<Note>(storage: MemoryStorageEngine())
        for storage in [stored, memory] {
            try await storage.store(notes.enumerated().map { (CacheKey("\($0)"), $1) })
        }
        let (id, day) = (notes[7].id, Date(timeIntervalSinceReferenceDate: 30.1))
        let queries: [Query<Note>] = [
            Query(where: #Predicate { $0.id == id }),
            Query(where: #Predicate { $0.title == "é" }, sortedBy: SortDescriptor(\.rank, order: .reverse)),
            Query(where: #Predicate { $0.due == nil || $0.rank > 8 }, sortedBy: SortDescriptor(\.due)),
            Query(
                where: #Predicate { $0.rank < 3 && $0.title != "a" }, sortedBy: SortDescriptor(\.due, order: .reverse)),
            Query(where: #Predicate { $0.rank >= 2 }),
        ]
        let queriesWithDates = [
            Query<Note>(
                where: #Predicate { note in
                    if let due = note.due { return due >= day } else { return false }
                }, sortedBy: SortDescriptor(\.due))
        ]
        for query in queries + queriesWithDates {
            let expected = try await memory.fetch(query)
            #expect(!expected.objectsAndKeys.isEmpty)
            #expect(try await stored.count(query) == expected.objectsAndKeys.count)
            var keys: [CacheKey] = []
            var cursor: QueryCursor?
            repeat {
                let page = try await stored.fetch(query, limit: 20, after: cursor)
                keys += page.objectsAndKeys.map(\.key)
                cursor = page.next
            } while cursor != nil
            #expect(keys == expected.objectsAndKeys.map(\.key))
        }
    }
}
#endif
