import BodegaTesting
import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import Bodega

/// A type with a text in a member of another name, and one that changes texts when it decodes them.
private struct Renamed: Codable, Sendable, Queryable {
    var title: String

    static let searchable = [Searchable("title", \Renamed.title)]

    enum CodingKeys: String, CodingKey { case title = "name" }
}

private struct Trimmed: Codable, Sendable, Queryable {
    var title: String

    static let searchable = [Searchable("title", \Trimmed.title)]

    init(_ title: String) { self.title = title }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        title = String(try container.decode(String.self, forKey: .title).drop { $0 == " " }) + " end"
    }
}

/// Two versions of a type. The second one has another name for the text, and decodes both.
private struct Memo: Codable, Sendable {
    var id: String
    var title: String
}

private struct NewMemo: Codable, Sendable, Queryable {
    var id: String
    var headline: String

    static let searchable = [Searchable("headline", \NewMemo.headline)]

    private enum Names: String, CodingKey { case id, headline, title }

    init(id: String, headline: String) { (self.id, self.headline) = (id, headline) }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Names.self)
        id = try values.decode(String.self, forKey: .id)
        headline =
            try values.decodeIfPresent(String.self, forKey: .headline) ?? values.decode(String.self, forKey: .title)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Names.self)
        try values.encode(id, forKey: .id)
        try values.encode(headline, forKey: .headline)
    }
}

@Suite("The use of indexes for searches", .unhurriedReads)
struct SearchIndexUseTests {
    private let folder = TemporaryFolder()

    private func engine() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    @Test(
        "Records with a text in the member of an earlier version are found", arguments: [false, true], [false, true])
    func earlierVersion(isNewFirst: Bool, hasIndex: Bool) async throws {
        let engine = try engine()
        let coder = JSONObjectCoder()
        let new = ObjectStorage<NewMemo>(storage: engine, coder: coder)
        let old = ObjectStorage<Memo>(storage: engine, coder: .json)
        let key = CacheKey("new")
        if isNewFirst { try await new.store(NewMemo(id: "new", headline: "swift news"), forKey: key) }
        for number in 0..<40 {
            let memo = Memo(id: "\(number)", title: number % 10 == 0 ? "swift old" : "plain")
            try await old.store(memo, forKey: CacheKey(memo.id))
        }
        if !isNewFirst { try await new.store(NewMemo(id: "new", headline: "swift news"), forKey: key) }
        if hasIndex { try await new.createIndexes() }
        let expected: Set = ["0", "10", "20", "30", "new"]
        let page = try await new.fetch(Query<NewMemo>().searching("swift"), limit: 100)
        #expect(Set(page.objects.map(\.id)) == expected)
        let sorted = Query<NewMemo>(sortedBy: SortDescriptor(\.headline)).searching("swift")
        #expect(try await Set(new.fetch(sorted, limit: 100).objects.map(\.id)) == expected)
        #expect(try await new.count(Query<NewMemo>().searching("swift")) == 5)
        #expect(try await new.fetchKeys(Query<NewMemo>().searching("swift")).count == 5)
    }

    /// Articles of which each tenth has the word "tenth" in its title.
    private static func articles(_ count: Int) -> [Article] {
        (0..<count).map { id in
            Article(
                id: id, title: id % 10 == 0 ? "every tenth" : "another", body: "number \(id) \(id % 7)",
                rank: id * 7919 % count)
        }
    }

    private static func store(_ articles: [Article], in engine: some StorageBackend) async throws {
        try await ObjectStorage<Article>(storage: engine).store(articles.map { ($0.key, $0) })
    }

    @Test("A page reads its items only, also in another order and with another condition", arguments: [600, 2_400])
    func costOfPages(count: Int) async throws {
        let articles = Self.articles(count)
        let counting = CountingItems(of: try engine())
        try await Self.store(articles, in: counting)
        let storage = ObjectStorage<Article>(storage: counting)
        try await storage.createIndexes()
        // Learns what the index can be used for.
        _ = try await storage.fetch(Query<Article>().searching("tenth"), limit: 1)
        _ = counting.take()
        let tenth = Query<Article>().searching("tenth")
        let first = try await storage.fetch(tenth, limit: 20)
        // All have the same score but for the length of their texts, which is the same, too.
        let expected = articles.filter { $0.id % 10 == 0 }
        #expect(first.objects == Array(expected.prefix(20)))
        #expect(counting.take() == 21)
        let second = try await storage.fetch(tenth, limit: 20, after: first.next)
        #expect(second.objects == Array(expected.dropFirst(20).prefix(20)))
        // The item at the cursor, too.
        #expect(counting.take() <= 22)
        #expect(try await storage.exists(tenth) && counting.take() == 1)
        #expect(try await storage.count(tenth) == expected.count && counting.take() == expected.count)
        let rare = Query<Article>().searching("\"number 17\"").sorted(by: SortDescriptor(\.rank))
        #expect(try await storage.fetch(rare, limit: 20).objects == [articles[17]])
        #expect(counting.take() == 1)
        // The order of an index leads to a common word sooner than the search.
        let byRank = Query<Article>().searching("number").sorted(by: SortDescriptor(\.rank))
        let ranked = articles.sorted { $0.rank < $1.rank }
        #expect(try await storage.fetch(byRank, limit: 5).objects == Array(ranked.prefix(5)))
        #expect(counting.take() <= 6)
        let low = Query<Article>(where: #Predicate { $0.rank == 70 }).searching("number")
        for limit in [5, .max] {
            #expect(try await storage.fetch(low, limit: limit).objects == articles.filter { $0.rank == 70 })
            #expect(counting.take() <= 2)
        }
    }

    @Test("Counting ends at a limit, and a scan with its receiver, however many items have a word")
    func earlyEnd() async throws {
        let search = StorageSearch(.search(["title", "body", "tags"]), .words("number"))
        var steps: [[Int32]] = []
        for count in [600, 2_400] {
            let engine = try SQLiteStorageEngine(openingFile: folder.file("\(count)"), durability: .relaxed)
            try await Self.store(Self.articles(count), in: engine)
            try await engine.createIndex(search.index)
            let read = try await engine.core.readLoosely { [table = engine.table] db in
                func steps(_ body: () throws -> Void) throws -> Int32 {
                    let matching = "SELECT rowid FROM main.emporium_search_1 WHERE emporium_search_1 MATCH ?1"
                    func all() -> Int32 {
                        var (sum, statement) = (Int32(0), sqlite3_next_stmt(db.sqliteConnection, nil))
                        while let next = statement {
                            if String(cString: sqlite3_sql(next)).hasPrefix(matching) {
                                sum += sqlite3_stmt_status(next, SQLITE_STMTSTATUS_VM_STEP, 0)
                            }
                            statement = sqlite3_next_stmt(db.sqliteConnection, next)
                        }
                        return sum
                    }
                    let before = all()
                    try body()
                    return all() - before
                }
                let counting = try steps {
                    let found = try table.count(.search(search), upTo: 10, in: db)
                    #expect(found == 10)
                }
                let reading = try steps { try table.scan(.search(search), .data, in: db) { _ in false } }
                return [counting, reading]
            }
            steps.append(read)
        }
        #expect(steps[0] == steps[1] && steps[0].allSatisfy { $0 > 0 }, "\(steps)")
    }

    @Test("The plan says that an index is used; without one, or for what it can't find, all items are read")
    func plans() async throws {
        let engine = try engine()
        try await Self.store(Self.articles(40), in: engine)
        let storage = ObjectStorage<Article>(storage: engine)
        try await storage.createIndexes()
        func plan(_ text: String) async throws -> String {
            try await storage.learnFromStoredObjects()
            let query = try await storage.ranked(Query<Article>().searching(text), fromOriginal: false)
            let running = try query.running(decodedBy: storage.coder, undecodable: nil)
            return try await running.plan(on: StorageReader(engine), limit: 5, after: nil).explanation
        }
        let used = "finds items by words in the index title, body, tags (words), in the order of relevance"
        #expect(try await plan("tenth") == used)
        #expect(try await plan("-tenth") == "reads all items and sorts the matches")
        try await engine.removeIndex(.search(["title", "body", "tags"]))
        #expect(try await plan("tenth") == "reads all items and sorts the matches")
        #expect(try await engine.fetchIndexes().allSatisfy { $0.searchForm == nil })
        let names = try await DatabaseQueue(path: engine.file.path).read {
            try String.fetchAll(
                $0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'emporium_search!_%' ESCAPE '!'")
        }
        #expect(names == [])
    }

    @Test("A type whose texts are not those in the members is searched without the index")
    func otherTexts() async throws {
        let renamed = ObjectStorage<Renamed>(storage: try engine())
        try await renamed.storage.write(Data(#"{"title":"wrong","name":"right"}"#.utf8), key: CacheKey("a"))
        try await renamed.createIndexes()
        #expect(try await renamed.fetch(Query<Renamed>().searching("right")).objects.map(\.title) == ["right"])
        #expect(try await renamed.count(Query<Renamed>().searching("wrong")) == 0)
        let trimmed = ObjectStorage<Trimmed>(storage: try engine())
        try await trimmed.storage.removeAllData()
        try await trimmed.storage.write(Data(#"{"title":" one"}"#.utf8), key: CacheKey("a"))
        try await trimmed.createIndexes()
        #expect(try await trimmed.fetch(Query<Trimmed>().searching("\"one end\"")).objects.map(\.title) == ["one end"])
    }

    @Test("The relevance is the same with an index and without, also beside items of other types")
    func otherTypes() async throws {
        let engine = try engine()
        try await Self.store(Self.articles(40), in: engine)
        try await engine.write(Data(#"{"title":"tenth of another type"}"#.utf8), key: CacheKey("other"))
        let storage = ObjectStorage<Article>(storage: engine)
        let query = Query<Article>().searching("tenth")
        try await storage.learnFromStoredObjects()
        let before = try await storage.ranked(query, fromOriginal: false).search?.ranking
        try await storage.createIndexes()
        let after = try await storage.ranked(query, fromOriginal: false).search?.ranking
        #expect(before == after && before?.count == 41 && before?.found == [5])
    }

    @Test("The creation of all indexes reports its progress")
    func progress() async throws {
        let engine = try engine()
        try await Self.store(Self.articles(600), in: engine)
        let reports = Locked<[[Int]]>([])
        let storage = ObjectStorage<Article>(storage: engine)
        try await storage.createIndexes { examined, total in reports.withLock { $0.append([examined, total]) } }
        let all = reports.withLock { $0 }
        let count = try await engine.fetchIndexes().count
        #expect(count > 1 && all.allSatisfy { $0[1] == 600 * count } && all.last == [600 * count, 600 * count])
        #expect(all.map { $0[0] } == all.map { $0[0] }.sorted())
        reports.withLock { $0 = [] }
        try await storage.createIndexes { examined, total in reports.withLock { $0.append([examined, total]) } }
        #expect(reports.withLock { $0.isEmpty })
    }

    @Test("An index that is not complete goes on with the next search")
    func continuation() async throws {
        let engine = try engine()
        let articles = Self.articles(1_000)
        try await Self.store(articles, in: engine)
        let index = StorageIndex.search(["title", "body", "tags"])
        // As if the process had ended after the first part.
        try await engine.core.writeUnreported { [table = engine.table] db in
            try SQLiteSearchIndex.create(index, of: table, in: db)
        }
        let storage = ObjectStorage<Article>(storage: engine)
        func pending() async throws -> Int {
            try await engine.core.readOne { [table = engine.table] db in
                try #require(SQLiteSearchIndex.all(of: table, in: db).first).pendingCount(upTo: .max, in: db)
            }
        }
        #expect(try await pending() == 1_000)
        #expect(try await storage.count(Query<Article>().searching("tenth")) == 100)
        while try await pending() > 0 { await Task.yield() }
        #expect(try await storage.count(Query<Article>().searching("tenth")) == 100)
        // A large batch is reason enough.
        try await Self.store(Self.articles(3_000).suffix(2_000), in: engine)
        while try await pending() > 0 { await Task.yield() }
        #expect(try await storage.count(Query<Article>().searching("tenth")) == 300)
    }

    @Test("An index is created in parts, and not at all if SQLite can't have it")
    func creation() async throws {
        let engine = try engine()
        for paths in [[#"a"b"#], (0...64).map { "c\($0)" }] {
            let error = await #expect(throws: StorageError.self) { try await engine.createIndex(.search(paths)) }
            #expect(error?.code == .invalidArgument)
        }
        for other in [MemoryStorageEngine()] {
            let error = await #expect(throws: StorageError.self) { try await other.createIndex(.search(["a"])) }
            #expect(error?.code == .invalidArgument)
        }
        let missing = StorageSearch(.search(["nothing"]), .words("a"))
        let error = await #expect(throws: StorageError.self) {
            try await StorageReader(engine).scan([.search(missing)]) { { _, _ in true } }
        }
        #expect(error?.code == .invalidArgument)
        // Two forms of one path are two indexes.
        try await engine.createIndex(.search(["title"], form: .substrings))
        try await engine.createIndex(.search(["title"]))
        try await engine.createIndex(.search(["title"]))
        #expect(try await engine.fetchIndexes() == [.search(["title"], form: .substrings), .search(["title"])])
    }

    @Test("A copy with other row numbers is not searched by the index", arguments: ["", "59", "60"])
    func renumbering(changed: String) async throws {
        let articles = Self.articles(61)
        let index = StorageIndex.search(["title", "body", "tags"])
        let engine = try engine()
        try await Self.store(articles, in: engine)
        try await engine.remove(key: articles[3].key)
        try await engine.createIndex(index)
        let rest = articles.filter { $0.id != 3 && "\($0.id)" != changed }
        // The last row can be one that the index must not be asked about.
        if let number = Int(changed) { try await engine.remove(key: articles[number].key) }
        let query = Query<Article>().searching("tenth").sorted(by: SortDescriptor(\.id))
        for (name, command, isSame) in [
            ("dumped", "sqlite3 \"$0\" .dump | sqlite3 \"$1\"", false),
            ("numbered", "sqlite3 \"$0\" '.dump --preserve-rowids' | sqlite3 \"$1\"", true),
            ("compact", "sqlite3 \"$0\" \"VACUUM INTO '$1'\"", true),
            ("saved", "sqlite3 \"$0\" \".backup '$1'\"", true),
        ] {
            let file = folder.file("\(name).sqlite3")
            let copying = Process()
            copying.executableURL = URL(fileURLWithPath: "/bin/sh")
            copying.arguments = ["-c", command, engine.file.path, file.path]
            try copying.start()
            await blocking { copying.waitUntilExit() }
            let copy = try SQLiteStorageEngine(opening: folder.directory, databaseFilename: name)
            let storage = ObjectStorage<Article>(storage: copy)
            #expect(try await copy.fetchIndexes().contains(index) == isSame, "\(name)")
            #expect(try await storage.fetch(query).objects == rest.filter { $0.id % 10 == 0 }, "\(name)")
            try await copy.createIndex(index)
            #expect(try await copy.fetchIndexes().contains(index))
            #expect(try await copy.examine() == [], "\(name)")
            #expect(try await storage.fetch(query).objects == rest.filter { $0.id % 10 == 0 }, "\(name)")
            try await copy.vacuum()
            #expect(try await copy.fetchIndexes().contains(index))
            #expect(try await storage.fetch(query).objects == rest.filter { $0.id % 10 == 0 }, "\(name)")
        }
    }

    @Test("An index of which a trigger is missing is not used")
    func missingTrigger() async throws {
        let engine = try engine()
        try await Self.store(Self.articles(50), in: engine)
        let index = StorageIndex.search(["title", "body", "tags"])
        try await engine.createIndex(index)
        try await DatabaseQueue(path: engine.file.path).write {
            try $0.execute(sql: "DROP TRIGGER emporium_search_1_deleted")
        }
        #expect(try await !engine.fetchIndexes().contains(index))
        #expect(try await engine.examine().map(\.severity) == [.remark])
    }

    @Test("A removed collection leaves nothing of its index")
    func collections() async throws {
        let engine = try engine()
        let collection = try engine.collection(named: "articles")
        try await Self.store(Self.articles(20), in: collection)
        try await collection.createIndex(.search(["title"]))
        try await engine.removeCollection(named: "articles")
        let names = try await DatabaseQueue(path: engine.file.path).read {
            try String.fetchAll(
                $0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'emporium_search!_%' ESCAPE '!'")
        }
        #expect(names == [])
        try await Self.store(Self.articles(10), in: try engine.collection(named: "articles"))
        #expect(try await engine.collection(named: "articles").fetchIndexes() == [])
    }
}
