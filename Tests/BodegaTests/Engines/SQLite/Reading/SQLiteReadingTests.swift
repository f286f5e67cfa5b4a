import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

/// Engines that only read a file.
@Suite struct SQLiteReadingTests {

    private func code(of error: any Error) -> StorageError.Code? { (error as? StorageError)?.code }

    @Test(
        "A file of each format is read in its own layout, and stays unchanged",
        arguments: ["bodega-2.sqlite3", "emporium-1.sqlite3"])
    func fixtures(name: String) async throws {
        let folder = TemporaryFolder()
        try FileManager.default.copyItem(at: Fixtures.file(name), to: folder.file("data.sqlite3"))
        let before = try Listing(of: folder.url)
        let engine = try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3"))
        let isOurs = name.hasPrefix("emporium")
        var keys = [CacheKey("second"), CacheKey("first"), CacheKey("ünïcödé/🐼")]
        if isOurs { keys += [CacheKey(verbatim: "second"), CacheKey(rawValue: "example.com/a", kind: .url)] }
        #expect(try await engine.fetchKeys() == keys)
        #expect(
            try await engine.fetchAllData().map { String(decoding: $0, as: UTF8.self) } == keys.map { "value of \($0)" }
        )
        #expect(
            try await engine.fetchDates(key: CacheKey("first"))?.createdAt
                == Date(timeIntervalSince1970: 1_655_922_600.25))
        #expect(try await engine.fetchCount() == keys.count)
        #expect(try await engine.fetch(keys: keys.reversed()).map(\.key) == keys.reversed())
        if isOurs {
            #expect(try await engine.collectionNames() == ["Quotes"])
            #expect(try await engine.collection(named: "Quotes").fetchKeys() == [CacheKey("dolly")])
        } else {
            // A row of Bodega 2 matches keys of every kind.
            #expect(try await engine.fetch(key: CacheKey(verbatim: "first")) == engine.fetch(key: CacheKey("first")))
        }
        #expect(try await engine.integrityCheck() == [])
        #expect(try Listing(of: folder.url) == before)
        try await engine.close()
        #expect(try Listing(of: folder.url) == before)
    }

    @Test("Thousands of keys are read at once, in their order, and the file stays unchanged")
    func manyKeys() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        let items = (0..<3_000).map { (key: CacheKey("\($0)"), data: Data("value \($0)".utf8)) }
        try await closed(SQLiteStorageEngine(openingFile: file)) { try await $0.write(items) }
        let before = try Listing(of: folder.url)
        let engine = try SQLiteStorageEngine(readingFile: file)
        let wanted = items.reversed().map(\.key) + [CacheKey("missing")]
        for _ in 0..<2 {
            let found = try await engine.fetch(keys: wanted)
            #expect(found.map(\.key) == wanted.dropLast() && found.map(\.data) == items.reversed().map(\.data))
        }
        try await engine.close()
        #expect(try Listing(of: folder.url) == before)
    }

    @Test("An engine that only reads can't write, and creates nothing")
    func readOnly() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        try await closed(SQLiteStorageEngine(openingFile: file)) {
            try await $0.write(Data("a".utf8), key: CacheKey("a"))
        }
        let before = try Listing(of: folder.url)
        let engine = try SQLiteStorageEngine(readingFile: file)
        await #expect { try await engine.write(Data(), key: CacheKey("b")) } throws: { code(of: $0) == .readOnly }
        await #expect { try await engine.removeAllData() } throws: { code(of: $0) == .readOnly }
        await #expect { try await engine.vacuum() } throws: { code(of: $0) == .readOnly }
        #expect { try engine.collection(named: "new") } throws: { code(of: $0) == .cannotOpen }
        #expect { try SQLiteStorageEngine(readingFile: file, collection: "new") } throws: {
            code(of: $0) == .cannotOpen
        }
        #expect { try SQLiteStorageEngine(readingFile: folder.file("absent")) } throws: { code(of: $0) == .cannotOpen }
        #expect(try await engine.fetchAllData() == [Data("a".utf8)])
        try await engine.close()
        await #expect { try await engine.fetchAll() } throws: { code(of: $0) == .closed }
        #expect(try Listing(of: folder.url) == before)
    }

    @Test("A file that is not a database, or another program's, is rejected and stays unchanged")
    func others() async throws {
        let folder = TemporaryFolder()
        try Data(repeating: 7, count: 5000).write(to: folder.file("noise"))
        try Data().write(to: folder.file("empty"))
        let other = try DatabaseQueue(path: folder.file("other").path)
        try await other.write { db in try db.execute(sql: "CREATE TABLE data (id INTEGER)") }
        try other.close()
        let before = try Listing(of: folder.url)
        for (name, expected) in [("noise", StorageError.Code.damaged), ("empty", .cannotOpen), ("other", .cannotOpen)] {
            #expect { try SQLiteStorageEngine(readingFile: folder.file(name)) } throws: { code(of: $0) == expected }
        }
        #expect(try Listing(of: folder.url) == before)
    }

    @Test("A file with named collections only has an empty unnamed one")
    func namedOnly() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        try await closed(SQLiteStorageEngine(openingFile: file, collection: "a")) {
            try await $0.write(Data("1".utf8), key: CacheKey("1"))
        }
        let engine = try SQLiteStorageEngine(readingFile: file)
        #expect(try await engine.fetchAll().isEmpty)
        #expect(try await engine.fetch(key: CacheKey("1")) == nil)
        #expect(try await engine.fetchCount() == 0)
        #expect(try await engine.collection(named: "a").fetchKeys() == [CacheKey("1")])
    }

    @Test("A read-only file in a read-only folder is read", arguments: ["bodega-2", "emporium-1"])
    func permissions(name: String) async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        try FileManager.default.copyItem(at: Fixtures.file("\(name).sqlite3"), to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        defer { chmod(folder.path, 0o755) }
        let lines = await (try Child("unprivileged", "sqlite-reading", folder.path)).lines()
        #expect(lines == ["opened", name == "bodega-2" ? "count 3" : "count 5", "error readOnly"])
    }

    @Test("A file on a read-only volume is read", .enabled(if: Volume.canMount))
    func readOnlyVolume() async throws {
        let folder = TemporaryFolder()
        let volume = try Volume(at: folder, size: "4m")
        defer { volume.unmount() }
        let file = folder.file("data.sqlite3")
        try await closed(SQLiteStorageEngine(openingFile: file)) {
            try await $0.write(Data("a".utf8), key: CacheKey("a"))
        }
        try volume.makeReadOnly()
        let engine = try SQLiteStorageEngine(readingFile: file)
        #expect(try await engine.fetchAllData() == [Data("a".utf8)])
        try await engine.close()
    }

    @Test("An engine that only reads can back up its file")
    func backup() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("source/data.sqlite3")
        try await closed(SQLiteStorageEngine(openingFile: file)) {
            try await $0.write(Data("a".utf8), key: CacheKey("a"))
        }
        let before = try Listing(of: folder.file("source"))
        try await SQLiteStorageEngine(readingFile: file).backup(to: folder.file("copies/copy.sqlite3"))
        #expect(try Listing(of: folder.file("source")) == before)
        let copy = try SQLiteStorageEngine(readingFile: folder.file("copies/copy.sqlite3"))
        #expect(try await copy.fetchAllData() == [Data("a".utf8)])
    }

    /// Uses an engine and closes it.
    private func closed(_ engine: SQLiteStorageEngine, _ body: (SQLiteStorageEngine) async throws -> Void) async throws
    {
        try await body(engine)
        try await engine.close()
    }
}
