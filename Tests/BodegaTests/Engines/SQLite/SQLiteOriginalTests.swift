import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

/// The statements that Bodega 2 runs on an SQLite file, word for word.
private struct Original {
    let queue: DatabaseQueue

    /// Opens a file like Bodega 2, creating the table if there is none.
    init(_ file: URL) throws {
        queue = try DatabaseQueue(path: file.path)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS "data" ("key" TEXT PRIMARY KEY NOT NULL, "value" BLOB NOT NULL, \
                    "createdAt" TEXT NOT NULL DEFAULT ('2022-08-01T12:00:00.000'), \
                    "updatedAt" TEXT NOT NULL DEFAULT ('2022-08-01T12:00:00.000'))
                    """
            )
        }
    }

    /// Version 2.0, and all batches.
    func replace(_ texts: [String], _ value: String, at date: String = "2022-09-01T12:00:00.000") throws {
        let rows = texts.map { _ in "(?, ?, ?)" }.joined(separator: ", ")
        let arguments = texts.flatMap { [$0, Data(value.utf8), date] as [any DatabaseValueConvertible] }
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: #"INSERT OR REPLACE INTO "data" ("key", "value", "updatedAt") VALUES \#(rows)"#,
                arguments: StatementArguments(arguments)
            )
        }
    }

    /// Version 2.1.
    func write(_ text: String, _ value: String, at date: String = "2022-09-01T12:00:00.000") throws {
        let exists = try read(text) != nil
        let sql =
            exists
            ? #"UPDATE "data" SET "key" = ?1, "value" = ?2, "updatedAt" = ?3 WHERE ("key" = ?1)"#
            : #"INSERT INTO "data" ("key", "value", "updatedAt") VALUES (?1, ?2, ?3)"#
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: sql, arguments: [text, Data(value.utf8), date])
        }
    }

    func read(_ text: String) throws -> String? {
        try queue.read { db in
            let sql = #"SELECT "key", "value" FROM "data" WHERE ("key" = ?) LIMIT 1"#
            let row = try Row.fetchOne(db, sql: sql, arguments: [text])
            return row.map { String(decoding: $0["value"] as Data, as: UTF8.self) }
        }
    }

    func rows() throws -> [String] {
        try queue.read { db in try String.fetchAll(db, sql: "SELECT key FROM data ORDER BY rowid") }
    }
}

private func key(_ url: String) throws -> CacheKey { CacheKey(url: try #require(URL(string: url))) }

@Suite struct `Items that Bodega has written under URLs` {

    private let folder = TemporaryFolder()
    private let original: Original
    private let engine: SQLiteStorageEngine
    private let url = "https://www.a.org/b/"

    init() async throws {
        original = try Original(folder.file("data.sqlite3"))
        try original.write("before", "1")
        try original.write("https://www.a.org/b/", "theirs")
        try original.write("after", "2")
        engine = try SQLiteStorageEngine(opening: folder.directory)
    }

    @Test func `are found under the same URL`() async throws {
        let found = try key(url)
        #expect(try await engine.fetch(key: found) == Data("theirs".utf8))
        #expect(try await engine.fetch(keys: [found]).map(\.key.rawValue) == [url])
        #expect(try await engine.fetchKeys(among: [found, try key("https://b.org")]) == [found])
        #expect(try await engine.fetchItems(keys: [found]).map(\.data) == [Data("theirs".utf8)])
        #expect(await engine.updatedAt(key: found) == Date(timeIntervalSince1970: 1_662_033_600))
        #expect(try await engine.fetch(key: try key("https://a.org")) == nil)
    }

    @Test func `are found in a file that is only read, in the layout that it has`() async throws {
        let folder = TemporaryFolder()
        try Original(folder.file("data.sqlite3")).write(url, "theirs")
        let reader = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        #expect(try await reader.fetch(key: try key(url)) == Data("theirs".utf8))
        #expect(try await reader.fetch(key: try key("http://a.org/b")) == nil)
    }

    @Test func `are overwritten in their place, and are one item then`() async throws {
        let created = try #require(await engine.createdAt(key: try key(url)))
        try await engine.write(Data("ours".utf8), key: try key(url))
        for spelling in [url, "http://a.org/b"] {
            #expect(try await engine.fetch(key: try key(spelling)) == Data("ours".utf8))
        }
        #expect(try await engine.fetchKeys() == [CacheKey("before"), try key(url), CacheKey("after")])
        #expect(await engine.createdAt(key: try key(url)) == created)
        try await engine.write(Data("again".utf8), key: try key("http://a.org/b"))
        #expect(try await engine.fetchAllData() == ["1", "again", "2"].map { Data($0.utf8) })
    }

    @Test(arguments: [false, true])
    func `are removed, with what was written beside them`(isBeside: Bool) async throws {
        if isBeside { try await engine.write(Data("ours".utf8), key: try key("http://a.org/b")) }
        try await engine.remove(key: try key(url))
        #expect(try await engine.fetch(key: try key(url)) == nil)
        #expect(try original.rows() == ["before", "after"])
    }

    @Test func `are one item with what was written under another spelling before`() async throws {
        try await engine.write(Data("ours".utf8), key: try key("http://a.org/b"))
        #expect(try await engine.fetch(key: try key(url)) == Data("ours".utf8))
        try await engine.write(Data("newer".utf8), key: try key(url))
        #expect(try await engine.fetchKeys() == [CacheKey("before"), CacheKey("after"), try key(url)])
        #expect(try await engine.fetch(key: try key("http://a.org/b")) == Data("newer".utf8))
    }

    @Test func `are found when Bodega has written them after us`() async throws {
        try await engine.write(Data("ours".utf8), key: try key(url))
        try original.write(url, "newer", at: "9999-01-01T00:00:00.000")
        #expect(try await engine.fetch(key: try key(url)) == Data("newer".utf8))
        try await engine.write(Data("newest".utf8), key: try key(url))
        #expect(try await engine.fetch(key: try key(url)) == Data("newest".utf8))
        #expect(try original.rows().count == 3)
    }

    @Test func `leave items alone that Bodega has written under the normal form`() async throws {
        try original.write("a.org/b", "of a string")
        try await engine.write(Data("ours".utf8), key: try key(url))
        try await engine.write(Data("ours".utf8), key: try key("https://b.org"))
        #expect(try await engine.fetch(key: CacheKey("a.org/b")) == Data("of a string".utf8))
        #expect(try await engine.fetch(key: try key("http://a.org/b")) == Data("ours".utf8))
        try await engine.remove(key: try key(url))
        #expect(try await engine.fetch(key: CacheKey("a.org/b")) == Data("of a string".utf8))
        #expect(try await engine.fetch(key: try key(url)) == nil)
    }

    @Test(arguments: [1, 300])
    func `change in the log as in the table`(batchSize: Int) async throws {
        let cursor = try await engine.fetchCursor()
        let others = (1..<batchSize).map { (CacheKey("other \($0)"), Data()) }
        try await engine.write([(try key(url), Data("ours".utf8))] + others)
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
        var state: Set = [CacheKey("before"), CacheKey(url), CacheKey("after")]
        for change in delta.changes {
            if change.kind == .removed { state.remove(change.key) } else { state.insert(change.key) }
        }
        #expect(state == Set(try await engine.fetchKeys()))
        #expect(delta.changes.prefix(2).map(\.key) == [CacheKey(url), try key(url)])
    }

    @Test func `are found as the keys of a frozen file`() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.copyItem(at: Fixtures.file("emporium-1.sqlite3"), to: folder.file("data.sqlite3"))
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let count = try await engine.fetchCount()
        #expect(
            try await engine.fetch(key: try key("https://www.example.com/a"))
                == Data(#"value of url:"example.com/a""#.utf8))
        try await engine.write(Data("new".utf8), key: try key("https://www.example.com/a"))
        #expect(try await engine.fetchCount() == count)
        try await engine.remove(key: try key("ftp://example.com/a/"))
        #expect(try await engine.fetchCount() == count - 1)
    }
}

@Suite struct `A database that Bodega goes on with` {

    /// How the file was created.
    enum File: String, CaseIterable {
        case new, newWithLog, frozen, frozenWithLog

        func put(in folder: TemporaryFolder) throws {
            let file = folder.file("data.sqlite3")
            switch self {
            case .new, .newWithLog: break
            case .frozen: try FileManager.default.copyItem(at: Fixtures.file("emporium-1.sqlite3"), to: file)
            case .frozenWithLog:
                try FileManager.default.copyItem(at: Fixtures.file("emporium-1-changes.sqlite3"), to: file)
            }
        }
    }

    @Test(arguments: File.allCases)
    func `takes what it inserts, and tells when`(_ file: File) async throws {
        let folder = TemporaryFolder()
        try file.put(in: folder)
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let cursor = file == .newWithLog || file == .frozenWithLog ? try await engine.fetchCursor() : nil
        let before = try await engine.fetchKeys()

        let start = Date().addingTimeInterval(-0.001)
        let original = try Original(folder.file("data.sqlite3"))
        try original.write("single", "1")
        try original.replace(["one", "two"], "2")
        try original.write("single", "3")
        #expect(try await engine.fetchKeys() == before + ["single", "one", "two"].map { CacheKey($0) })
        for (text, value) in [("single", "3"), ("one", "2"), ("two", "2")] {
            #expect(try await engine.fetch(key: CacheKey(text)) == Data(value.utf8))
            let dates = try #require(try await engine.fetchDates(key: CacheKey(text)))
            #expect(dates.updatedAt == Date(timeIntervalSince1970: 1_662_033_600))
            #expect((start...Date()).contains(dates.createdAt))
        }
        if let cursor {
            let delta = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
            #expect(delta.changes.map(\.key) == ["single", "one", "two", "single"].map { CacheKey($0) })
        }
        #expect(try await engine.integrityCheck() == [])
        // Writes of this package are unchanged.
        try await engine.write(Data("ours".utf8), key: CacheKey("one"))
        #expect(try original.read("one") == "ours")
    }
}
