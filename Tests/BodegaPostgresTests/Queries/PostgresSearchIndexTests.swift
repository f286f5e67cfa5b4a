#if Postgres
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Indexes for searches in the database: how they are created, kept up to date, used and removed.
@Suite
struct PostgresSearchIndexTests {
    let index = StorageIndex.search(["text"])

    func engine(_ url: String) async throws -> PostgresStorageEngine {
        try await PostgresStorageEngine(
            connecting: url, collection: "notes", options: .patient(maximumConnections: 4, partitions: 3))
    }

    func session(_ url: String) async throws -> Session {
        try await SessionPool(target: ConnectionTarget(url), limit: 1, connectTimeout: 60).makeSession(
            until: .after(60))
    }

    /// Items of which each tenth has the word "tenth".
    func items(_ range: Range<Int>) -> [(key: CacheKey, data: Data)] {
        range.map { number in
            let word = number % 10 == 0 ? "tenth" : "other"
            return (CacheKey(verbatim: "\(number)"), Data(#"{"text":"\#(word) number \#(number)"}"#.utf8))
        }
    }

    func found(_ text: String, in engine: any StorageBackend) async throws -> [String] {
        let found = Locked<[String]>([])
        try await StorageReader(engine).scan([.search(StorageSearch(index, SearchExpression(text)))]) {
            found.withLock { $0 = [] }
            return { _, item in
                found.withLock { $0.append(item.key.rawValue) }
                return true
            }
        }
        return found.withLock { $0 }
    }

    /// The number of noted items.
    func notes(_ engine: PostgresStorageEngine, _ schema: Schemas.Schema) async throws -> Int? {
        let table = SearchTable(index: index, collection: engine.number)
        return Int(try await schema.sql("SELECT count(*) FROM \(table.notes) WHERE NOT kept"))
    }

    func expected(_ range: Range<Int>) -> [String] { range.filter { $0 % 10 == 0 }.map { "\($0)" } }

    // MARK: Use

    @Test("A search reads the entries that it finds, and no others")
    func rowsRead() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        try await engine.write(items(0..<2_000))
        try await engine.createIndex(index)
        try await engine.write(Data(#"{"text":"tenth"}"#.utf8), key: CacheKey(verbatim: "3"))
        let session = try await session(schema.url)
        let table = SearchTable(index: index, collection: engine.number)
        var command = SearchEntries.command(of: SearchPattern(.words("tenth"), .words), in: table)
        command.statement = Statement("EXPLAIN (ANALYZE, COSTS off, TIMING off) " + command.statement.sql)
        // Without statistics, and with them.
        for step in 0..<2 {
            if step == 1 { try await schema.sql("ANALYZE \(table.name)") }
            let answers = try await session.run(
                [.beginSnapshot, ScanStatement.findWords, command, .commit], patience: 60)
            let plan = try (0..<answers[2].count).map { try answers[2].text($0, 0) }.joined(separator: "\n")
            let scan = "Bitmap Index Scan on \(table.words) (actual rows=200 loops=1)"
            #expect(plan.contains(scan) && !plan.contains("Seq Scan on \(table.name) x"), "\(plan)")
        }
        let counting = CountingItems(of: engine)
        let first = try await StorageReader(counting).count(
            [.search(StorageSearch(index, .words("tenth")))], upTo: .max)
        #expect(first == 201 && counting.take() == 0)
        #expect(try await found("tenth", in: counting) == (expected(0..<10) + ["3"] + expected(10..<2_000)))
        #expect(counting.take() == 201)
    }

    @Test("Notes become entries after a search or a large batch")
    func updates() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        try await engine.createIndex(index)
        for number in 0..<4 { try await engine.write(items(number * 200..<number * 200 + 200)) }
        #expect(try await notes(engine, schema) == 800)
        #expect(try await found("tenth", in: engine) == expected(0..<800))
        try await waitUntil("the items are in the index") { try await notes(engine, schema) == 0 }
        #expect(try await found("tenth", in: engine) == expected(0..<800))
        try await engine.write(items(700..<1_900))
        try await waitUntil("the batch is in the index") { try await notes(engine, schema) == 0 }
        #expect(try await found("tenth", in: engine) == expected(0..<1_900))
        // Few notes wait for more.
        try await engine.write(items(0..<10))
        #expect(try await found("tenth", in: engine) == expected(0..<1_900))
        #expect(try await notes(engine, schema) == 10)
        // Unless the index is created once more.
        try await engine.createIndex(index)
        #expect(try await notes(engine, schema) == 0)
        #expect(try await found("tenth", in: engine) == expected(0..<1_900))
    }

    @Test("Items over a limit are read by each search")
    func largeItems() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        let long = String(repeating: "ж", count: 1_500)
        let texts = [
            "alpha", long, "\(long)x alpha", String(repeating: "many alpha words ", count: 20_000), "alpha beta",
        ]
        func item(_ text: String) -> Data { Data(#"{"text":"\#(text)"}"#.utf8) }
        try await engine.write(texts.enumerated().map { (CacheKey(verbatim: "\($0)"), item($1)) })
        try await engine.createIndex(index)
        let table = SearchTable(index: index, collection: engine.number)
        for step in 0..<3 {
            #expect(try await schema.sql("SELECT count(*) FROM \(table.name)") == (step == 0 ? "2" : "3"))
            #expect(try await schema.sql("SELECT count(*) FROM \(table.notes) WHERE kept") == (step == 0 ? "3" : "2"))
            #expect(
                try await found("alpha", in: engine) == (step == 0 ? ["0", "2", "3", "4"] : ["0", "1", "2", "3", "4"]))
            #expect(try await found(long, in: engine) == (step == 0 ? ["1"] : []))
            #expect(try await found("\(long)*", in: engine) == (step == 0 ? ["1", "2"] : ["2"]))
            #expect(try await found("\"words many\"", in: engine) == ["3"])
            try await engine.write(item("now alpha"), key: CacheKey(verbatim: "1"))
            while try await engine.database.searchUpdates.update(engine.number) { continue }
        }
    }

    @Test("Phrases with repeated words, and long lists of words, are counted as they are in Swift")
    func countedInSwift() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        let texts = ["a b a b a", "a a a", "a b", "b a", "ab a ab a", "aa a"]
        try await engine.write(
            texts.enumerated().map { (CacheKey(verbatim: "\($0)"), Data(#"{"text":"\#($1)"}"#.utf8)) })
        try await engine.createIndex(index)
        let scanned = StoredTexts(of: index)
        let items = try await engine.fetchAll()
        let words = SearchExpression.any((0..<100).map { .words("w\($0)") } + [.words("b")])
        let expressions = [
            .phrase("a b a"), .phrase("a a"), .prefix("a a"), .prefix("ab a"), .prefix("a"), words,
            SearchExpression("\"a a\" -b"), SearchExpression("a OR \"b a\""),
        ]
        for expression in expressions {
            var search = StorageSearch(index, expression)
            let pattern = search.pattern
            let ranking = try #require(try await StorageReader(engine).fetchRanking(of: search))
            var numbers = SearchRanking(phrases: pattern.phraseCount)
            for (_, data) in items { if let counts = scanned.counts(of: pattern, in: data) { numbers.add(counts) } }
            #expect(ranking == numbers, "\(expression)")
            search.relevance = StorageSearch.Relevance(weights: [1], ranking: ranking)
            var expected: [(key: CacheKey, score: Double)] = []
            for (key, data) in items {
                guard let counts = scanned.counts(of: pattern, in: data), pattern.matches(counts.has) else { continue }
                let score = ranking.score(counts, phrases: pattern.reasons(counts.has), weights: [1])
                expected.append((key, score))
            }
            let found = Locked<[StorageItem]>([])
            try await StorageReader(engine).scan([.search(search)]) {
                { _, item in
                    found.withLock { $0.append(item) }
                    return true
                }
            }
            let scores = Dictionary(uniqueKeysWithValues: expected.map { ($0.key, StorageSortKey($0.score)) })
            let actual = Dictionary(uniqueKeysWithValues: found.withLock { $0 }.map { ($0.key, $0.sortKey) })
            #expect(actual == scores.mapValues { $0 }, "\(expression)")
        }
    }

    @Test(
        "Statements that are not on rows of the table of items are noted",
        arguments: [
            "TRUNCATE emporium_items", "TRUNCATE emporium_items_1", "TRUNCATE emporium_items_0, emporium_items_2",
            "SET session_replication_role = replica; DELETE FROM emporium_items WHERE shard % 2 = 0",
            "SET session_replication_role = replica; DELETE FROM emporium_items_2",
            "COPY emporium_items FROM PROGRAM 'true'", "UPDATE emporium_items SET collection = collection + 1000",
        ])
    func statements(_ statement: String) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        try await engine.write(items(0..<200))
        try await engine.createIndex(index)
        try await engine.write(items(200..<210))
        try await schema.sql(statement)
        for _ in 0..<2 {
            let stored = try await engine.fetchKeys().map(\.rawValue)
            #expect(try await found("tenth", in: engine) == stored.filter { $0.hasSuffix("0") })
            let search = StorageSearch(index, .words("tenth"))
            #expect(try await StorageReader(engine).fetchRanking(of: search)?.count == stored.count)
            while try await engine.database.searchUpdates.update(engine.number) { continue }
        }
    }

    @Test("An item that is changed while an update adds it stays noted")
    func lateChange() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        try await engine.createIndex(index)
        try await engine.write(items(0..<1))
        let table = SearchTable(index: index, collection: engine.number)
        // The update has read the item when it waits for the table of entries.
        let other = try await session(schema.url)
        let lock = Command(Statement("LOCK TABLE \(table.name) IN SHARE MODE"))
        _ = try await other.run([.begin, lock], patience: 60)
        let update = Task { try await engine.database.searchUpdates.update(engine.number) }
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(table.name)'::regclass
            """
        try await waitUntil("the update waits") { try await schema.sql(waiting) == "1" }
        try await engine.write(Data(#"{"text":"changed"}"#.utf8), key: CacheKey(verbatim: "0"))
        _ = try await other.run(.commit, patience: 60)
        _ = try await update.value
        #expect(try await schema.sql("SELECT words FROM \(table.name)") == "'tenth' 'number' '0'")
        #expect(try await found("tenth", in: engine) == [])
        #expect(try await found("changed", in: engine) == ["0"])
        _ = try await engine.database.searchUpdates.update(engine.number)
        #expect(try await schema.sql("SELECT words FROM \(table.name)") == "'changed'")
        #expect(try await found("changed", in: engine) == ["0"])
    }

    @Test("At a moment, a search finds what there was, and its index has it")
    func moments() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema.url)
        try await engine.write(items(0..<500))
        try await engine.createIndex(index)
        try await engine.write(items(500..<520))
        try await engine.database.atOneMoment {
            let before = try await found("tenth", in: engine)
            #expect(before == expected(0..<520))
            try await Task.detached {
                try await engine.write(items(520..<900))
                while try await engine.database.searchUpdates.update(engine.number) { continue }
            }.value
            let after = try await found("tenth", in: engine)
            #expect(after == before)
            await #expect(throws: StorageError.self) { try await engine.removeIndex(index) }
        }
        #expect(try await found("tenth", in: engine) == expected(0..<900))
    }

    // MARK: Users

    @Test("A user with rights on rows writes and searches by the index, and one with later rights without it")
    func rights() async throws {
        let schema = try await Schemas.shared.schema()
        let owner = try await engine(schema.url)
        try await owner.write(items(0..<300))
        let writer = try await engine(schema.urlOfWriter())
        let refused = await #expect(throws: StorageError.self) { try await writer.createIndex(index) }
        #expect(refused?.code == .permissionDenied)
        try await owner.createIndex(index)
        #expect(try await writer.fetchIndexes() == [index])
        try await writer.write(items(300..<700))
        try await writer.remove(key: CacheKey(verbatim: "0"))
        #expect(try await found("tenth", in: writer) == Array(expected(0..<700).dropFirst()))
        try await waitUntil("the writer has updated the index") { try await notes(owner, schema) == 0 }
        #expect(try await found("tenth", in: owner) == Array(expected(0..<700).dropFirst()))
        let table = SearchTable(index: index, collection: owner.number)
        try await schema.sql(
            "REVOKE INSERT, UPDATE, DELETE ON \(table.name), \(table.notes), \(table.state) FROM writer")
        try await writer.write(items(0..<400))
        try await writer.createIndex(index)
        #expect(try await notes(owner, schema) == 400)
        #expect(try await found("tenth", in: writer).count == 70)
        try await owner.createIndex(index)
        #expect(try await notes(owner, schema) == 0)
        for name in [table.name, table.notes, table.state] {
            try await schema.sql("REVOKE ALL ON \(name) FROM writer")
            #expect(try await writer.fetchIndexes() == [])
            try await writer.write(items(0..<1))
            try await writer.remove(key: CacheKey(verbatim: "10"))
            let error = await #expect(throws: StorageError.self) { try await found("tenth", in: writer) }
            #expect(error?.code == .invalidArgument)
            try await writer.write(items(10..<11))
            #expect(try await found("tenth", in: owner).count == 70)
            try await schema.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON \(name) TO writer")
        }
    }
}
#endif
