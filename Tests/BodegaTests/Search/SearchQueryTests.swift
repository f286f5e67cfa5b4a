import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

struct Article: Codable, Sendable, Equatable {
    var id: Int
    var title: String
    var body: String?
    var tags: [String] = []
    var rank = 0

    var key: CacheKey { CacheKey("\(id)") }
}

extension Article: Queryable {
    static let indexes = [Index("rank", \Article.rank)]
    static let searchable = [
        Searchable("title", \Article.title, weight: 2), Searchable("body", \Article.body),
        Searchable("tags", \Article.tags, weight: 0.5),
    ]
}

private struct Remark: Codable, Sendable, Queryable {
    var id: Int
    var articleID: String
    var text: String

    static let searchable = [Searchable("text", \Remark.text)]
}

private struct Mute: Codable, Sendable, Queryable {
    var name: String
}

private struct PropertyListCoder: ObjectCoder {
    func encode<Object: Encodable>(_ object: Object) throws -> Data { try PropertyListEncoder().encode(object) }

    func decode<Object: Decodable>(_ type: Object.Type, from data: Data) throws -> Object {
        try PropertyListDecoder().decode(type, from: data)
    }
}

@Suite("Queries that search texts")
struct SearchQueryTests {
    private let folder = TemporaryFolder()

    enum Engine: CaseIterable {
        case memory, sqlite, indexedSQLite, disk, encrypted, cached, propertyLists
    }

    private func storage(_ engine: Engine) async throws -> ObjectStorage<Article> {
        switch engine {
        case .memory: return ObjectStorage(storage: MemoryStorageEngine())
        case .sqlite: return ObjectStorage(storage: try SQLiteStorageEngine(opening: folder.directory))
        case .indexedSQLite:
            let storage = ObjectStorage<Article>(storage: try SQLiteStorageEngine(opening: folder.directory))
            try await storage.createIndexes()
            return storage
        case .disk: return ObjectStorage(storage: DiskStorageEngine(directory: folder.directory))
        case .encrypted:
            return ObjectStorage(
                storage: MemoryStorageEngine().encrypted(with: EncryptionKeyset(), collection: "articles"))
        case .cached: return ObjectStorage(storage: try SQLiteStorageEngine(opening: folder.directory).cached())
        case .propertyLists: return ObjectStorage(storage: MemoryStorageEngine(), coder: PropertyListCoder())
        }
    }

    private static func articles(_ count: Int, _ random: inout SeededGenerator) -> [Article] {
        (0..<count).map { id in
            let tags = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                SearchSamples.text(&random, words: 1...1)
            }
            return Article(
                id: id, title: SearchSamples.text(&random, words: 0...4),
                body: Bool.random(using: &random) ? SearchSamples.text(&random, words: 0...20) : nil, tags: tags,
                rank: Int.random(in: 0..<5, using: &random))
        }
    }

    /// The articles in FTS5, in the same order.
    private static func table(_ articles: [Article]) throws -> FTS5 {
        let table = try FTS5(columns: 3, tokenizer: "unicode61 remove_diacritics 2")
        try table.insert(articles.map { [$0.title, $0.body ?? "", $0.tags.joined(separator: "\n")] })
        return table
    }

    @Test("Random searches find what FTS5 finds, in the order of its scores", arguments: Engine.allCases)
    func random(_ engine: Engine) async throws {
        var random = SeededGenerator(seed: Seed.current)
        let articles = Self.articles(60, &random)
        // Disk has the order of the first writes only to the second.
        let storage = try await storage(engine)
        for article in articles { try await storage.store(article, forKey: article.key) }
        let table = try Self.table(try await storage.fetchAllObjects().objects)
        let stored = try await storage.fetchAllObjects().objects
        var found = 0
        for _ in 0..<max(TestSizes.queries / 40, 10) {
            let expression = SearchSamples.expression(&random, form: .words)
            guard let text = SearchPattern(expression, .words).fts5 else { continue }
            let rows = try table.search(text, weights: [2, 1, 0.5])
            let sorted = rows.sorted { ($1.score, $0.row) < ($0.score, $1.row) }
            let expected = sorted.map { stored[$0.row - 1] }
            found += expected.count
            let comment = Comment(rawValue: "seed \(Seed.current), \(engine): \(text)")
            let query = Query<Article>().searching(expression)
            #expect(try await storage.fetch(query).objects == expected, comment)
            #expect(try await pages(of: query, in: storage, limit: 7) == expected, comment)
            #expect(
                try await storage.fetch(query, limit: 5, offset: 3).objects == Array(expected.dropFirst(3).prefix(5)))
            #expect(try await storage.fetchKeys(query, limit: 4) == expected.prefix(4).map(\.key), comment)
            #expect(try await storage.first(query)?.object == expected.first, comment)
            #expect(try await storage.count(query) == expected.count, comment)
            #expect(try await storage.exists(query) == !expected.isEmpty, comment)
            let counts = Dictionary(grouping: expected, by: \.rank).mapValues(\.count)
            #expect(try await storage.count(query, by: \.rank) == counts, comment)
            #expect(try await storage.sum(of: \.rank, query) == expected.reduce(0) { $0 + $1.rank }, comment)

            let low = query.filter(#Predicate { $0.rank < 2 })
            #expect(try await storage.fetch(low).objects == expected.filter { $0.rank < 2 }, comment)
            #expect(try await storage.count(low) == expected.count { $0.rank < 2 }, comment)
            let byRank = query.sorted(by: SortDescriptor(\.rank, order: .reverse))
            let inOrder = stored.filter(expected.contains)
            let ranked = (0..<5).reversed().flatMap { rank in inOrder.filter { $0.rank == rank } }
            #expect(try await pages(of: byRank, in: storage, limit: 7) == ranked, comment)
            if engine != .propertyLists {
                let filtered = try Query<Article>(matching: "@.rank == 1").searching(expression)
                #expect(try await storage.fetch(filtered).objects == expected.filter { $0.rank == 1 }, comment)
            }
        }
        #expect(found > 50)
        let removed = Query<Article>().searching("alpha*")
        let gone = try await storage.fetch(removed).objects
        #expect(!gone.isEmpty)
        #expect(try await storage.removeObjects(matching: removed) == gone.count)
        #expect(try await storage.fetchAllObjects().objects == stored.filter { !gone.contains($0) })
    }

    private func pages(
        of query: Query<Article>, in storage: ObjectStorage<Article>, limit: Int
    ) async throws -> [Article] {
        var page = try await storage.fetch(query, limit: limit)
        var objects = page.objects
        while let next = page.next {
            page = try await storage.fetch(query, limit: limit, after: next)
            objects += page.objects
        }
        return objects
    }

    @Test("Pages go on in the same order, although other objects change how rare words are")
    func stablePages() async throws {
        let storage = try await storage(.sqlite)
        let texts = ["rare", "common", "common common", "rare common", "other", "other", "other"]
        for (id, text) in texts.enumerated() {
            let article = Article(id: id, title: text)
            try await storage.store(article, forKey: article.key)
        }
        let query = Query<Article>().searching("rare OR common")
        let all = try await storage.fetch(query).objects.map(\.id)
        let first = try await storage.fetch(query, limit: 2)
        let next = try #require(first.next)
        // Now "rare" is no longer rare, and texts are longer.
        for id in 10..<40 {
            let article = Article(id: id, title: "rare and nothing else that anyone would want to read")
            try await storage.store(article, forKey: article.key)
        }
        try await storage.removeObject(forKey: first.objectsAndKeys[1].key)
        let rest = try await storage.fetch(query, after: next).objects.map(\.id).filter { $0 < 10 }
        #expect(first.objects.map(\.id) + rest == all)
        #expect(try await storage.fetch(query).objects.map(\.id).filter { $0 < 10 } != all.filter { $0 != all[1] })
    }

    @Test("A cursor of another query is an error")
    func foreignCursors() async throws {
        let storage = try await storage(.memory)
        for id in 0..<4 {
            let article = Article(id: id, title: "a b")
            try await storage.store(article, forKey: article.key)
        }
        let search = Query<Article>().searching("a")
        let cursor = try #require(try await storage.fetch(search, limit: 1).next).rawValue
        let plain = try #require(try await storage.fetch(Query<Article>(), limit: 1).next).rawValue
        let numbers = cursor.prefix { $0 != "." }
        let rest = cursor.dropFirst(numbers.count)
        let wrong = [
            plain, "s1-1-2\(rest)", "s-1-1-0\(rest)", "sx-1-1\(rest)", "s1-1\(rest)", "s1-1-0-0\(rest)", "s", "",
        ]
        for text in wrong {
            let error = await #expect(throws: StorageError.self) {
                try await storage.fetch(search, after: QueryCursor(rawValue: text))
            }
            #expect(error?.code == .invalidArgument, "\(text)")
        }
        for other in [Query<Article>(), search.searching("b"), search.sorted(by: SortDescriptor(\.id))] {
            let error = await #expect(throws: StorageError.self) {
                try await storage.fetch(other, after: QueryCursor(rawValue: cursor))
            }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test(
        "The relevance counts all stored texts, also of records that can't be decoded, with an index and without",
        arguments: [Engine.memory, .sqlite, .indexedSQLite, .encrypted])
    private func statistics(_ kind: Engine) async throws {
        let storage = try await storage(kind)
        for (id, title) in ["a", "b b", "a b"].enumerated() {
            let article = Article(id: id, title: title)
            try await storage.store(article, forKey: article.key)
        }
        let query = Query<Article>().searching("a OR b")
        // Both are in more than half of the texts, so they count almost nothing, and the third text has both.
        #expect(try await storage.fetch(query).objects.map(\.title) == ["a b", "b b", "a"])
        let engine = storage.storage
        for key in ["x", "y"] { try await engine.write(Data(#"{"title":"a"}"#.utf8), key: CacheKey(key)) }
        await #expect(throws: StorageError.self) { try await storage.fetch(query) }
        let page = try await storage.fetch(query, omittingUndecodable: true)
        // Now two of five have a "b".
        #expect(page.objects.map(\.title) == ["b b", "a b", "a"])
        // An index finds those that can't be decoded, and a scan does, too.
        #expect(page.undecodable.count == 2)
    }

    @Test("Searches compose, and a type without searchable properties can't be searched")
    func composition() async throws {
        let storage = try await storage(.memory)
        for (id, title) in ["red", "red green", "green blue", ""].enumerated() {
            let article = Article(id: id, title: title, tags: title.isEmpty ? ["red", "hot air"] : [])
            try await storage.store(article, forKey: article.key)
        }
        func ids(_ query: Query<Article>) async throws -> [Int] {
            try await storage.fetch(query.sorted(by: SortDescriptor(\.id))).objects.map(\.id)
        }
        let red = Query<Article>().searching("red")
        #expect(try await ids(red) == [0, 1, 3])
        #expect(try await ids(red.searching("green")) == [1])
        #expect(try await ids(Query<Article>().searching("")) == [0, 1, 2, 3])
        #expect(try await ids(Query<Article>().searching("-red")) == [2])
        #expect(try await ids(Query<Article>().searching("\"red hot\"")) == [3])
        #expect(try await ids(Query<Article>().searching("\"green red\"")) == [])
        // Without a reason, objects are in insertion order.
        #expect(try await storage.fetch(Query<Article>().searching("-green")).objects.map(\.id) == [0, 3])

        let mute = ObjectStorage<Mute>(storage: MemoryStorageEngine())
        for read in [{ _ = try await mute.fetch($0) }, { _ = try await mute.count($0) }]
            as [(Query<Mute>) async throws -> Void]
        {
            let error = await #expect(throws: StorageError.self) { try await read(Query<Mute>().searching("a")) }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test("A search goes through references, and its results have related items", arguments: [false, true])
    func references(inOneDatabase isOneDatabase: Bool) async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let articles = ObjectStorage<Article>(storage: file)
        let comments = ObjectStorage<Remark>(
            storage: isOneDatabase ? try file.collection(named: "remarks") : MemoryStorageEngine())
        for (id, title) in ["red apple", "green apple apple", "pear"].enumerated() {
            let article = Article(id: id, title: title)
            try await articles.store(article, forKey: article.key)
        }
        for (id, articleID) in [0, 1, 1, 2, 7].enumerated() {
            let remark = Remark(id: id, articleID: "\(articleID)", text: id < 3 ? "fresh" : "fresh fresh and \(id)")
            try await comments.store(remark, forKey: CacheKey("\(id)"))
        }
        let onApples = Query<Remark>().searching("fresh")
            .filter(\.articleID, in: articles, matching: Query<Article>().searching("apple")) { CacheKey($0) }
        #expect(try await comments.fetch(onApples).objects.map(\.id) == [0, 1, 2])
        #expect(try await comments.count(onApples) == 3)
        let page = try await comments.fetch(onApples, limit: 2)
        let rest = try await comments.fetch(onApples, limit: 2, after: page.next)
        #expect(page.objects.map(\.id) + rest.objects.map(\.id) == [0, 1, 2] && rest.next == nil)
        let rows = try await comments.fetch(onApples.including(\.articleID, from: articles) { CacheKey($0) }).rows
        #expect(rows.map(\.related?.id) == [0, 1, 1])
    }

    /// `Place` is that of the guide.
    @Test("A type can be searched by parts of words")
    func substrings() async throws {
        let storage = ObjectStorage<Place>(storage: MemoryStorageEngine())
        for name in ["東京都", "京都", "京", "Kyōto", "kyoto tower", ""] {
            try await storage.store(Place(name: name), forKey: CacheKey(verbatim: "-" + name))
        }
        func names(_ text: String) async throws -> Set<String> {
            Set(try await storage.fetch(Query<Place>().searching(text)).objects.map(\.name))
        }
        #expect(try await names("京都") == ["東京都", "京都"])
        #expect(try await names("京") == ["東京都", "京都", "京"])
        #expect(try await names("YO") == ["kyoto tower"])
        #expect(try await names("\"oto t\"") == ["kyoto tower"])
        #expect(try await names("to -tower") == ["Kyōto"])
    }
}
