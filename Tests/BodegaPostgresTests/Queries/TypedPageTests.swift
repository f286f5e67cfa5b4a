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

@Suite(.timeLimit(.minutes(10)))
struct TypedPageTests {

    @Test func `Predicates and sort orders give the objects that they give in memory`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "notes", options: .patient(partitions: 2))
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
