import BodegaTesting
import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import Bodega

/// Indexes for searches that are damaged, or that this program can't read. The expected objects come from `filter`.
@Suite("Damaged indexes for searches", .unhurriedReads)
struct SearchIndexDamageTests {
    private let folder = TemporaryFolder()
    private static let articles = (0..<600).map { id in
        Article(
            id: id, title: id % 10 == 0 ? "every tenth" : "another", body: "number \(id) \(id % 7)",
            rank: id * 7919 % 600)
    }
    private static let tenth = articles.filter { $0.id % 10 == 0 }
    private static let index = StorageIndex.search(["title", "body", "tags"])
    private static let query = Query<Article>().searching("tenth")

    /// Articles with an index for searches, of which SQLite damages what a statement names.
    private func engine(damagedBy sql: String) async throws -> SQLiteStorageEngine {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await ObjectStorage<Article>(storage: engine).store(Self.articles.map { ($0.key, $0) })
        try await engine.createIndex(Self.index)
        try await engine.close()
        try await DatabaseQueue(path: engine.file.path).write { try $0.execute(sql: sql) }
        return try SQLiteStorageEngine(opening: folder.directory)
    }

    private func expectAll(in engine: SQLiteStorageEngine, _ comment: Comment) async throws {
        let storage = ObjectStorage<Article>(storage: engine)
        let ranked = try await storage.fetch(Self.query, limit: 1_000).objects
        // All have the same score.
        #expect(ranked == Self.tenth, comment)
        let sorted = try await storage.fetch(Self.query.sorted(by: SortDescriptor(\.rank)), limit: 1_000).objects
        #expect(sorted == Self.tenth.sorted { $0.rank < $1.rank }, comment)
        #expect(try await storage.count(Self.query) == Self.tenth.count, comment)
        #expect(try await storage.exists(Query<Article>().searching("tenth OR \"number 3\"")), comment)
    }

    static let damages = [
        "DROP TABLE emporium_search_1_data", "DROP TABLE emporium_search_1_idx", "DROP TABLE emporium_search_1_config",
        "DROP TABLE emporium_search_1_docsize",
        "UPDATE emporium_search_1_data SET block = x'ffffffffffffffffffffffff' WHERE id > 10",
        "DELETE FROM emporium_search_1_data WHERE id > 10", "DELETE FROM emporium_search_1_data WHERE id = 10",
        "UPDATE emporium_search_1_config SET v = 99 WHERE k = 'version'",
        // Sums of these overflow.
        "UPDATE emporium_search_1_data SET block = x'ffffffffffffffff7fffffffffffffffff7fffffffffffffffff7f' WHERE id = 1",
    ]

    @Test("No read fails or lies, a write succeeds, and another creation replaces the index", arguments: damages)
    func damage(sql: String) async throws {
        let engine = try await engine(damagedBy: sql)
        #expect(try await engine.examine().count == 1)
        try await expectAll(in: engine, "before")
        try await engine.removeAllData()
        try await ObjectStorage<Article>(storage: engine).store(Self.articles.map { ($0.key, $0) })
        try await expectAll(in: engine, "after a removal of all")
        try await engine.createIndex(Self.index)
        try await expectSound(engine)
    }

    private func expectSound(_ engine: SQLiteStorageEngine) async throws {
        #expect(try await engine.fetchIndexes().contains(Self.index))
        #expect(try await engine.examine() == [])
        try await expectAll(in: engine, "after the creation")
        let check = try await DatabaseQueue(path: engine.file.path).read {
            try String.fetchAll($0, sql: "PRAGMA integrity_check")
        }
        #expect(check == ["ok"])
    }

    @Test(
        "An examination finds what FTS5 does not notice",
        arguments: [
            "UPDATE emporium_search_1_data SET block = zeroblob(length(block)) WHERE id > 10",
            "UPDATE emporium_search_1_data SET block = x'ffff' WHERE id = 10",
            "INSERT INTO emporium_search_1 (rowid, c0) VALUES (700, 'more')",
            "INSERT INTO emporium_search_1 (emporium_search_1) VALUES ('delete-all')",
            "INSERT INTO emporium_search_1 (emporium_search_1, rowid, c1) VALUES ('delete', 7, 'number 6 6')",
        ])
    func examination(sql: String) async throws {
        let engine = try await engine(damagedBy: sql)
        let findings = try await engine.examine()
        #expect(findings.map(\.severity) == [.problem] && findings[0].message.contains("title, body, tags"))
        try await engine.removeIndex(Self.index)
        try await engine.createIndex(Self.index)
        try await expectSound(engine)
    }

    @Test(
        "An examination finds nothing in a sound index, also after changes", arguments: [SearchForm.words, .substrings])
    func soundness(form: SearchForm) async throws {
        let index = StorageIndex.search(["title", "body", "tags"], form: form)
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await ObjectStorage<Article>(storage: engine).store(Self.articles.map { ($0.key, $0) })
        try await engine.write(Data([0x7B, 0xFF]), key: CacheKey("no text"))
        try await engine.write(Data(#"{"title":"caf\u00e9"}"#.utf8), key: CacheKey("escaped"))
        try await engine.write(Data(#"{"title":"CAFÉ ǅ 東京 x","tags":["a","bcd",1]}"#.utf8), key: CacheKey("letters"))
        try await engine.createIndex(index)
        #expect(try await engine.examine() == [])
        try await engine.write(Data(#"{"title":"new"}"#.utf8), key: Self.articles[5].key)
        try await engine.remove(key: Self.articles[6].key)
        try await engine.write(Data(#"{"title":"added"}"#.utf8), key: CacheKey("added"))
        #expect(try await engine.examine() == [])
    }

    @Test("A program whose SQLite has no FTS5 reads, writes, and removes the index")
    func missingModule() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await ObjectStorage<Article>(storage: engine).store(Self.articles.map { ($0.key, $0) })
        try await engine.createIndex(Self.index)
        let collection = try engine.collection(named: "articles")
        try await ObjectStorage<Article>(storage: collection).store(Self.articles.map { ($0.key, $0) })
        try await collection.createIndex(Self.index)
        try await engine.close()
        let poor = try SQLiteStorageEngine(opening: folder.directory)
        for _ in 0..<8 {
            _ = try await poor.core.readLoosely { sqlite3_create_module_v2($0.sqliteConnection, "fts5", nil, nil, nil) }
        }
        try await poor.core.writeUnreported { sqlite3_create_module_v2($0.sqliteConnection, "fts5", nil, nil, nil) }
        try await expectAll(in: poor, "without FTS5")
        // It is not damaged.
        #expect(try await poor.fetchIndexes().contains(Self.index))
        try await poor.removeAllData()
        try await ObjectStorage<Article>(storage: poor).store(Self.articles.map { ($0.key, $0) })
        try await expectAll(in: poor, "after a removal of all")
        try await poor.removeCollection(named: "articles")
        let rich = try SQLiteStorageEngine(opening: folder.directory)
        try await expectSound(rich)
        try await poor.removeIndex(Self.index)
        let names = try await DatabaseQueue(path: poor.file.path).read {
            try String.fetchAll(
                $0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'emporium!_search!_%' ESCAPE '!'")
        }
        #expect(names == [])
        #expect(try await rich.examine() == [])
        try await expectAll(in: rich, "after its removal")
    }

    @Test("An index survives kills and stops while it is brought up to date, beside a program that only knows SQL")
    func kills() async throws {
        print("kills while an index is brought up to date: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let index = StorageIndex.search(["title"])
        let file = try SQLiteStorageEngine(opening: folder.directory).file
        let plain = try DatabaseQueue(path: file.path)
        for round in 0..<TestSizes.kills {
            let child = try Child("update-search", folder.path)
            for _ in 0..<Int.random(in: 1...9, using: &random) { _ = await child.nextLine() }
            if Bool.random(using: &random) {
                // The process holds no lock, or the one of a transaction that its end rolls back.
                kill(child.processIdentifier, SIGSTOP)
            }
            child.kill()
            _ = await child.lines()
            for _ in 0..<20 {
                let (key, word) = (Int.random(in: 0..<3_000, using: &random), Int.random(in: 0..<50, using: &random))
                try await plain.write {
                    try $0.execute(
                        sql: "INSERT OR REPLACE INTO data (key, value) VALUES ('k\(key)', '{\"title\":\"w\(word)\"}')")
                    try $0.execute(sql: "DELETE FROM data WHERE key = 'k\(key + 1)'")
                }
            }
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            let findings = try await engine.examine().filter { $0.message.contains("index") }
            #expect(findings == [], "round \(round)")
            let word = "w\(Int.random(in: 0..<50, using: &random))"
            let expected = try await engine.fetchAll().filter {
                String(decoding: $0.data, as: UTF8.self).split { !$0.isLetter && !$0.isNumber }.contains { $0 == word }
            }
            let found = try await StorageReader(engine).count([.search(StorageSearch(index, .words(word)))], upTo: .max)
            #expect(found == expected.count, "round \(round)")
            try await engine.close()
        }
        let check = try await plain.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        #expect(check == ["ok"])
    }

    @Test("A table with other columns than the register says is not read")
    func columns() async throws {
        let engine = try await engine(damagedBy: "UPDATE emporium_searches SET paths = 'title'")
        var search = StorageSearch(.search(["title"]), .words("tenth"))
        let ranking = try #require(try await StorageReader(engine).fetchRanking(of: search))
        search.relevance = StorageSearch.Relevance(weights: [1], ranking: ranking)
        let keys = Locked<[CacheKey]>([])
        try await StorageReader(engine).scan([.search(search)]) {
            { _, item in
                keys.withLock { $0.append(item.key) }
                return true
            }
        }
        #expect(keys.withLock { $0 } == Self.tenth.map(\.key))
    }

    @Test("A damaged page of the notes makes no read fail")
    func page() async throws {
        var engine = try await engine(damagedBy: "DELETE FROM emporium_search_1_notes")
        try await engine.close()
        let queue = try DatabaseQueue(path: engine.file.path)
        let root = try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            return try Int.fetchOne(
                db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'emporium_search_1_notes'")
        }
        try queue.close()
        let place = try #require(root) - 1
        let file = try FileHandle(forUpdating: engine.file)
        try file.seek(toOffset: UInt64(place * 4096))
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        engine = try SQLiteStorageEngine(opening: folder.directory)
        try await expectAll(in: engine, "with a damaged page")
        await #expect(throws: Never.self) { try await engine.examine() }
    }

    @Test("A failure is logged once for each index")
    func log() throws {
        let messages = Locked<[String]>([])
        let failures = SQLiteSearchFailures(logger: .ofMessages { text, _ in messages.withLock { $0.append(text) } })
        let failure = SQLiteSearchIndex.Failure(cause: DatabaseError(resultCode: .SQLITE_CORRUPT))
        try DatabaseQueue().write { db in
            for id in [1, 1, 2, 1] {
                failures.report(failure, of: SQLiteSearchIndex(index: Self.index, table: .standard, id: id), in: db)
            }
        }
        #expect(messages.withLock { $0.count } == 2)
    }

    @Test("An expression of many parts in one another is found, which FTS5 can't read", arguments: [5, 11, 12, 40])
    func depth(_ count: Int) async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let storage = ObjectStorage<Article>(storage: engine)
        try await storage.store(Self.articles.map { ($0.key, $0) })
        try await storage.createIndexes()
        var text = "tenth"
        for number in 0..<count { text = "(missing\(number) OR (every AND \(text)))" }
        let expression = try SearchExpression(parsing: text)
        let query = Query<Article>().searching(expression)
        #expect(try await storage.count(query) == Self.tenth.count)
        #expect(try await storage.fetch(query, limit: 1_000).objects == Self.tenth)
    }
}
