#if Postgres
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

private struct Article: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var title: String
    var body: String?
    var rank: Int

    static let indexes = [Index("rank", \Article.rank)]
    static let searchable = [Searchable("title", \Article.title, weight: 2), Searchable("body", \Article.body)]
}

@Suite(.unhurriedReads)
struct PostgresTypedSearchTests {

    /// Articles of which each tenth has the word "tenth" in its title.
    private static func articles(_ count: Int) -> [Article] {
        (0..<count).map { id in
            Article(
                id: id, title: id % 10 == 0 ? "every tenth" : "another", body: "number \(id) \(id % 7)",
                rank: id * 7919 % count)
        }
    }

    @Test("A page of a search reads its items only, also with another order, a condition, or in wrappers")
    func costOfPages() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "notes", options: .patient(partitions: 3))
        let articles = Self.articles(600)
        let counting = CountingItems(of: engine.cached())
        let storage = ObjectStorage<Article>(storage: counting)
        try await storage.store(articles.map { (CacheKey(verbatim: "\($0.id)"), $0) })
        try await storage.createIndexes()
        // Learns what the index can be used for.
        _ = try await storage.fetch(Query<Article>().searching("tenth"), limit: 1)
        _ = counting.take()
        let tenth = Query<Article>().searching("tenth")
        let first = try await storage.fetch(tenth, limit: 20)
        let expected = articles.filter { $0.id % 10 == 0 }
        #expect(first.objects == Array(expected.prefix(20)))
        #expect(counting.take() == 21)
        let second = try await storage.fetch(tenth, limit: 20, after: first.next)
        #expect(second.objects == Array(expected.dropFirst(20).prefix(20)))
        #expect(counting.take() <= 22)
        #expect(try await storage.exists(tenth) && counting.take() == 1)
        #expect(try await storage.count(tenth) == expected.count)
        _ = counting.take()
        let rare = Query<Article>().searching("\"number 17\"").sorted(by: SortDescriptor(\.rank))
        #expect(try await storage.fetch(rare, limit: 20).objects == [articles[17]])
        #expect(counting.take() == 1)
        let low = Query<Article>(where: #Predicate { $0.rank == 70 }).searching("number")
        #expect(try await storage.fetch(low, limit: 5).objects == articles.filter { $0.rank == 70 })
        #expect(counting.take() <= 2)
        let either = Query<Article>().searching("\"number 17\" OR \"number 1\"* -tenth").sorted(
            by: SortDescriptor(\.id))
        let starts = articles.filter { $0.id == 17 || "\($0.id)".hasPrefix("1") && $0.id % 10 != 0 }
        #expect(try await storage.fetch(either).objects == starts)
    }
}
#endif
