import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

/// Files that Bodega 2 and this package take turns to use. Here Bodega 2 is plain SQL on its table.
@Suite struct SQLiteCompatibilityTests {

    /// A file as Bodega 2 creates it, with a rollback journal.
    private static let referenceSchema = """
        CREATE TABLE data (
            key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL
        )
        """

    private static func referenceFile(in folder: TemporaryFolder) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.file("data.sqlite3").path)
        try queue.write { db in
            try db.execute(sql: referenceSchema)
            for (key, date) in [
                ("zebra", "2022-06-22T18:30:00.123"), ("ant", "2022-06-23T00:00:00.000"),
                ("x", "1999-12-31T23:59:59.999"),
            ] {
                try db.execute(
                    sql: "INSERT INTO data VALUES (?, ?, ?, ?)",
                    arguments: [key, Data("value of \(key)".utf8), date, "2022-07-01T12:00:00.000"]
                )
            }
        }
        return queue
    }

    @Test("A file of Bodega 2 opens with all rows, keys and dates, in insertion order")
    func opensReferenceFile() async throws {
        let folder = TemporaryFolder()
        try Self.referenceFile(in: folder).close()
        let engine = try #require(SQLiteStorageEngine(directory: folder.directory))
        #expect(try await engine.fetchKeys() == [CacheKey("zebra"), CacheKey("ant"), CacheKey("x")])
        #expect(try await engine.fetch(key: CacheKey("ant")) == Data("value of ant".utf8))
        let dates = try #require(try await engine.fetchDates(key: CacheKey("zebra")))
        #expect(abs(dates.createdAt.timeIntervalSince1970 - 1_655_922_600.123) < 0.000_5)
        #expect(dates.updatedAt == Date(timeIntervalSince1970: 1_656_676_800))
    }

    @Test("A row of Bodega 2 matches keys of every kind, and a write sets its kind")
    func rowsOfReferenceAnswerToEveryKind() async throws {
        let folder = TemporaryFolder()
        try Self.referenceFile(in: folder).close()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        for kind in CacheKey.Kind.allCases {
            #expect(try await engine.fetch(key: CacheKey(rawValue: "x", kind: kind)) == Data("value of x".utf8))
        }
        let before = try await engine.fetchDates(key: CacheKey(verbatim: "x"))
        try await engine.write(Data("new".utf8), key: CacheKey(verbatim: "x"))
        #expect(try await engine.fetchKeys() == [CacheKey("zebra"), CacheKey("ant"), CacheKey(verbatim: "x")])
        #expect(try await engine.fetchDates(key: CacheKey(verbatim: "x"))?.createdAt == before?.createdAt)
        try await engine.remove(key: CacheKey(verbatim: "ant"))
        #expect(try await engine.fetchCount() == 2)
    }

    @Test("The statements of Bodega 2 work on a file of this package while it is open")
    func referenceReadsOurFile() async throws {
        let folder = TemporaryFolder()
        let date = Date(timeIntervalSince1970: 1_655_922_600.123)
        let engine = try SQLiteStorageEngine(opening: folder.directory, now: { date })
        try await engine.write([(CacheKey("b"), Data("1".utf8)), (CacheKey(verbatim: "a"), Data("2".utf8))])

        let reference = try DatabaseQueue(path: engine.file.path)
        try await reference.write { db in
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT value, createdAt, updatedAt FROM data WHERE key = 'b'"))
            #expect(row["value"] == Data("1".utf8))
            #expect(row["createdAt"] == "2022-06-22T18:30:00.123")
            #expect(row["updatedAt"] == "2022-06-22T18:30:00.123")
            #expect(try String.fetchAll(db, sql: "SELECT key FROM data ORDER BY rowid") == ["b", "a"])
            try db.execute(
                sql: "INSERT OR REPLACE INTO data (key, value, createdAt, updatedAt) VALUES (?, ?, ?, ?)",
                arguments: ["c", Data("3".utf8), "2023-01-01T00:00:00.000", "2023-01-01T00:00:00.000"]
            )
            try db.execute(sql: "DELETE FROM data WHERE key = 'b'")
        }
        #expect(try await engine.fetchKeys() == [CacheKey(verbatim: "a"), CacheKey("c")])
    }

    @Test(
        "A table of another program stays unchanged",
        arguments: [
            "CREATE TABLE data (id INTEGER)", "CREATE VIEW data AS SELECT 1",
            "CREATE TABLE data (key TEXT PRIMARY KEY, value BLOB, createdAt TEXT, updatedAt TEXT) WITHOUT ROWID",
        ])
    func otherTable(sql: String) throws {
        let folder = TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("data.sqlite3").path)
        try queue.write { db in try db.execute(sql: sql) }
        #expect(throws: StorageError.self) { try SQLiteStorageEngine(opening: folder.directory) }
        let statements = try queue.read { db in try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master") }
        #expect(statements == [sql])
    }

    @Test(
        "A frozen file of each format opens with all its items",
        arguments: ["bodega-2.sqlite3", "emporium-1.sqlite3"])
    func fixture(name: String) async throws {
        let folder = TemporaryFolder()
        let copy = folder.file("data.sqlite3")
        try FileManager.default.copyItem(at: Fixtures.file(name), to: copy)
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let isOurs = name.hasPrefix("emporium")
        var keys = [CacheKey("second"), CacheKey("first"), CacheKey("ünïcödé/🐼")]
        if isOurs { keys += [CacheKey(verbatim: "second"), CacheKey(rawValue: "example.com/a", kind: .url)] }
        #expect(try await engine.fetchKeys() == keys)
        #expect(
            try await engine.fetchAllData().map { String(decoding: $0, as: UTF8.self) } == keys.map { "value of \($0)" }
        )
        #expect(
            try await engine.fetchDates(key: CacheKey("first"))
                == StorageDates(
                    createdAt: Date(timeIntervalSince1970: 1_655_922_600.25),
                    updatedAt: Date(timeIntervalSince1970: 1_655_922_601.5)
                )
        )
        if isOurs {
            #expect(try await engine.collectionNames() == ["Quotes"])
            #expect(
                try await engine.collection(named: "Quotes").fetch(key: CacheKey("dolly"))
                    == Data("Do it on purpose.".utf8))
        }
        #expect(try await engine.integrityCheck() == [])
    }
}

extension SQLiteCompatibilityTests {

    @Test("An engine whose file must exist creates nothing, and doesn't change databases of other programs")
    func mustExist() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        func open(_ collection: String? = nil) throws -> SQLiteStorageEngine {
            try SQLiteStorageEngine(openingFile: file, collection: collection, mustExist: true)
        }
        #expect { try open() } throws: { ($0 as? StorageError)?.code == .cannotOpen }
        #expect(try folder.names() == [])

        let other = try DatabaseQueue(path: file.path)
        try await other.write { db in try db.execute(sql: "CREATE TABLE mine (a)") }
        try other.close()
        let bytes = try Data(contentsOf: file)
        #expect { try open() } throws: { ($0 as? StorageError)?.code == .cannotOpen }
        #expect { try open("a") } throws: { ($0 as? StorageError)?.code == .cannotOpen }
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try folder.names() == ["data.sqlite3"])

        try await SQLiteStorageEngine(openingFile: file, collection: "a").write(Data(), key: CacheKey("1"))
        #expect(try await open("a").fetchCount() == 1)
        #expect(throws: StorageError.self) { try open("b") }
    }

    @Test("Bodega 2 opens, reads and writes a file with a change log, and its changes are reported")
    func referenceWritesToALog() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write([(CacheKey("a"), Data("1".utf8)), (CacheKey("b"), Data("2".utf8))])
        let cursor = try await engine.fetchCursor()
        try await engine.close()
        // Bodega 2 does not enable WAL mode.
        let reference = try DatabaseQueue(path: engine.file.path)
        try await reference.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try await reference.write { db in
            let schema = Self.referenceSchema.replacingOccurrences(of: "TABLE", with: "TABLE IF NOT EXISTS")
            try db.execute(sql: schema)
            for key in ["b", "c"] {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO data (key, value, createdAt, updatedAt) VALUES (?, ?, ?, ?)",
                    arguments: [key, Data("3".utf8), "2023-01-01T00:00:00.000", "2023-01-01T00:00:00.000"]
                )
            }
            try db.execute(sql: "DELETE FROM data WHERE key = 'a'")
            #expect(try String.fetchAll(db, sql: "SELECT key FROM data ORDER BY key") == ["b", "c"])
        }
        try reference.close()
        let again = try SQLiteStorageEngine(opening: folder.directory)
        let delta = try #require(await again.fetchChanges(since: cursor, excluding: nil))
        #expect(
            delta.changes == [
                StorageChange(key: CacheKey("b"), kind: .written), StorageChange(key: CacheKey("c"), kind: .written),
                StorageChange(key: CacheKey("a"), kind: .removed),
            ])
        #expect(try await again.integrityCheck() == [])
    }

    @Test("A frozen log knows its cursors and origins")
    func frozenLog() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        try FileManager.default.copyItem(at: Fixtures.file("emporium-1-changes.sqlite3"), to: file)
        let (gone, there) = (CacheKey(verbatim: "n 0"), CacheKey(verbatim: "n 1"))
        let origin = StorageOrigin(id: try #require(UUID(uuidString: "7E0F9B0C-5D5B-4B57-9C5F-0C6F6E4C1A11")))
        let expected = [
            StorageChange(key: gone, kind: .written, origin: origin),
            StorageChange(key: there, kind: .written, origin: origin), StorageChange(key: gone, kind: .removed),
        ]
        for engine in [
            try SQLiteStorageEngine(readingFile: file), try SQLiteStorageEngine(opening: folder.directory),
        ] {
            let cursor = StorageCursor(rawValue: "0/790470236651878187")
            let delta = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
            #expect(delta.changes == expected)
            #expect(delta.cursor.rawValue == "3/1350392258268277595")
        }
    }

    @Test("A file of Bodega 2 counts as existing")
    func referenceFileExists() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        try FileManager.default.copyItem(at: Fixtures.file("bodega-2.sqlite3"), to: file)
        #expect(try await SQLiteStorageEngine(openingFile: file, mustExist: true).fetchCount() == 3)
    }
}
