import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// The log of an SQLite file's changes.
@Suite struct SQLiteHistoryTests {

    private let folder = TemporaryFolder()
    private let a = CacheKey("a")
    private let b = CacheKey("b")
    private let data = Data("data".utf8)

    private func open() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    /// Uses the file like a program that does not use this package.
    private func foreign(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try DatabaseQueue(path: folder.file("data.sqlite3").path).write {
            try $0.execute(sql: sql, arguments: arguments)
        }
    }

    private func schema() throws -> [String] {
        try DatabaseQueue(path: folder.file("data.sqlite3").path).read {
            try String.fetchAll(
                $0, sql: "SELECT name FROM sqlite_master WHERE name <> 'emporium_rows' ORDER BY name")
        }
    }

    @Test("Without a request for changes, the schema stays unchanged")
    func nothingForNothing() async throws {
        let engine = try open()
        try await engine.write(data, key: a)
        let signals = engine.changeSignals()
        try await engine.remove(key: a)
        #expect(try schema() == ["data", "sqlite_autoindex_data_1"])
        _ = signals
        _ = try await engine.fetchCursor()
        #expect(
            try schema() == [
                "data", "emporium_changes_data", "emporium_changes_data_deleted",
                "emporium_changes_data_insert_replaced",
                "emporium_changes_data_inserted", "emporium_changes_data_inserting",
                "emporium_changes_data_update_replaced", "emporium_changes_data_updated",
                "emporium_changes_data_updating", "sqlite_autoindex_data_1",
            ])
        #expect(try await engine.collectionNames() == [])
        #expect(try await engine.examine().isEmpty)
        try await engine.removeChangeLog()
        #expect(try schema() == ["data", "sqlite_autoindex_data_1"])
        try await engine.removeChangeLog()
    }

    @Test("A snapshot is read in parts of at most 512 items, or of some larger ones", arguments: [false, true])
    func snapshotInParts(isReadOnly: Bool) async throws {
        let writer = try open()
        _ = try await writer.fetchCursor()
        let engine = isReadOnly ? try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3")) : writer
        let (small, large, huge) = (Data("s".utf8), Data(count: 600 << 10), Data(count: 3 << 20))
        for (sizes, parts) in [
            ([], [0]), ([large], [1]), ([huge, small], [1, 1]), ([small, huge], [1, 1]),
            ([large, large, small], [1, 2]),
            (Array(repeating: small, count: 512), [512]), (Array(repeating: small, count: 1_025), [512, 512, 1]),
        ] {
            try await writer.removeAllData()
            try await writer.write(sizes.enumerated().map { (CacheKey("\($0)"), $1) })
            let received = Locked<[(number: Int, records: [(key: CacheKey, data: Data)])]>([])
            let cursor = try await engine.readSnapshot { number, records in
                received.withLock { $0.append((number, records)) }
            }
            let all = received.withLock { $0 }
            #expect(all.map(\.number) == Array(parts.indices) && all.map(\.records.count) == parts)
            #expect(all.flatMap { $0.records.map(\.key) } == sizes.indices.map { CacheKey("\($0)") })
            #expect(all.flatMap { $0.records.map(\.data) } == sizes)
            #expect(try await cursor == engine.fetchCursor())
        }
    }

    @Test("A removed log is created again by the next request for changes")
    func ended() async throws {
        let (engine, other) = (try open(), try open())
        let cursor = try await engine.fetchCursor()
        try await other.removeChangeLog()
        try await engine.write(data, key: a)
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil) == nil)
        var feed = engine.changes(since: cursor).makeAsyncIterator()
        guard case .snapshot(let snapshot)? = try await feed.next() else { throw StorageError(.damaged, "No snapshot") }
        #expect(snapshot.items.map(\.key) == [a])
        try await engine.write(data, key: b)
        let delta = try #require(await engine.fetchChanges(since: snapshot.cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [b] && delta.changes[0].origin != nil)
    }

    @Test("Each change after a cursor is reported once, in order, with its origin")
    func order() async throws {
        let (engine, mine) = (try open(), StorageOrigin())
        try await engine.write(data, key: a)
        let cursor = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: b) }
        try await engine.apply([.write(key: a, data: data), .remove(key: CacheKey("absent")), .removeAll])
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [b, a, a, b])
        #expect(delta.changes.map(\.kind) == [.written, .written, .removed, .removed])
        #expect(delta.changes.map { $0.origin == mine } == [true, false, false, false])
        #expect(delta.changes.allSatisfy { $0.origin != nil } && delta.isComplete)
        #expect(try await engine.fetchChanges(since: delta.cursor, excluding: nil)?.changes == [])
    }

    @Test("Changes in several parts and the items under their keys are read as one")
    func manyChangedItems() async throws {
        let (engine, other, mine) = (try open(), StorageOrigin(), StorageOrigin())
        let cursor = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: a) }
        try await StorageOrigin.$current.withValue(other) {
            try await engine.write((0..<10_001).map { (CacheKey("\($0)"), data) })
        }
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: b) }
        #expect(try await engine.fetchChanges(since: cursor, excluding: mine)?.isComplete == false)
        let delta = try #require(await engine.fetchChangedItems(since: cursor, excluding: mine))
        let items = delta.items
        #expect(delta.changes.count == 10_003 && delta.changes.first?.key == a && delta.changes.last?.key == b)
        #expect(Set(items.map(\.key)) == Set((0..<10_001).map { CacheKey("\($0)") }))
        #expect(try await engine.fetchChanges(since: delta.cursor, excluding: nil)?.changes == [])
    }

    @Test("Changes of a program that does not use this package are reported with the keys of this package")
    func foreignWrites() async throws {
        let engine = try open()
        try await engine.write(data, key: a)
        let cursor = try await engine.fetchCursor()
        let row = "(key, value, createdAt, updatedAt) VALUES (?, x'00', '2024-01-01', '2024-01-01')"
        try foreign("REPLACE INTO data \(row)", ["a"])
        try foreign("INSERT OR REPLACE INTO data \(row)", ["b"])
        try foreign("UPDATE data SET value = x'01' WHERE key = 'b'")
        try foreign("UPDATE data SET key = 'c' WHERE key = 'b'")
        try foreign("DELETE FROM data")
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
        let reported = delta.changes.map { "\($0.kind) \($0.key.rawValue)" }
        #expect(
            reported == ["written a", "written b", "written b", "removed b", "written c", "removed a", "removed c"])
        #expect(delta.changes.allSatisfy { $0.origin == nil && $0.key.kind == .hashed })
    }

    @Test("Changes of keys of each kind are reported, and moves of an item to another row are not")
    func kinds() async throws {
        let engine = try open()
        let (hashed, verbatim) = (CacheKey("k"), CacheKey(verbatim: "k"))
        let cursor = try await engine.fetchCursor()
        try await engine.write(data, key: verbatim)
        try await engine.write(data, key: hashed)
        try await engine.write(data, key: verbatim)
        try await engine.remove(key: verbatim)
        try foreign("UPDATE data SET kind = NULL")
        try await engine.write(data, key: verbatim)
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [verbatim, hashed, verbatim, verbatim, hashed, hashed, verbatim])
        #expect(delta.changes.map { $0.kind == .written } == [true, true, true, false, true, false, true])
    }

    private static let values = "VALUES ('k', x'00', '', '')"

    @Test(
        "An item that another program replaces by one of another key or kind is reported as removed, once",
        arguments: [
            ("REPLACE INTO data (key, value, createdAt, updatedAt) \(values)", ["verbatim k", "hashed k"]),
            ("INSERT INTO data (key, value, createdAt, updatedAt) \(values) ON CONFLICT DO NOTHING", []),
            (
                "REPLACE INTO data (rowid, key, value, createdAt, updatedAt) VALUES (1, 'm', x'00', '', '')",
                ["verbatim k", "hashed m"]
            ),
            (
                "REPLACE INTO data (rowid, key, value, createdAt, updatedAt) VALUES (2, 'k', x'00', '', '')",
                ["hashed l", "verbatim k", "hashed k"]
            ),
            ("UPDATE OR REPLACE data SET key = 'k' WHERE key = 'l'", ["hashed l", "verbatim k", "hashed k"]),
            ("UPDATE OR REPLACE data SET rowid = 1 WHERE key = 'l'", ["verbatim k", "hashed l"]),
            ("UPDATE OR REPLACE data SET _rowid_ = 1 WHERE key = 'l'", ["verbatim k", "hashed l"]),
            ("UPDATE data SET rowid = 7, kind = 2", ["verbatim k", "url k"]),
        ], [false, true])
    func replaced(change: (sql: String, expected: [String]), isRecursive: Bool) async throws {
        let engine = try open()
        try await engine.write(data, key: CacheKey(verbatim: "k"))
        if !change.sql.hasPrefix("UPDATE data") { try await engine.write(data, key: CacheKey("l")) }
        let cursor = try await engine.fetchCursor()
        let queue = try DatabaseQueue(path: folder.file("data.sqlite3").path)
        try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA recursive_triggers = \(isRecursive)")
            try db.execute(sql: change.sql)
        }
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
        let reported = delta.changes.map { "\($0.key.kind.rawValue) \($0.key.rawValue)" }
        #expect(reported.sorted() == change.expected.sorted())
        #expect(delta.changes.filter { $0.kind == .written }.count == min(1, reported.count))
        #expect(delta.changes.last?.kind != .removed)
        // A statement that yields leaves nothing behind that is reported later.
        let now = try await engine.fetchCursor()
        try await engine.write(data, key: CacheKey("k"))
        let next = try #require(await engine.fetchChanges(since: now, excluding: nil))
        #expect(next.changes.map(\.kind) == [.written])
    }

    @Test("A table that another program recreated as in Bodega 2 gets the missing column before the triggers")
    func tableOfBodega() async throws {
        let engine = try open()
        _ = try await engine.fetchCursor()
        try foreign("DROP TABLE data")
        try foreign(
            "CREATE TABLE data (key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL, createdAt TEXT NOT NULL, "
                + "updatedAt TEXT NOT NULL)")
        let cursor = try await engine.fetchCursor()
        try foreign("INSERT INTO data VALUES ('a', x'00', '', '', NULL)")
        try foreign("INSERT INTO data (key, value, createdAt, updatedAt) VALUES ('b', x'00', '', '')")
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil)?.changes.map(\.key) == [a, b])
    }

    @Test("A write in progress when the log is first read has its origin")
    func firstRequest() async throws {
        _ = try await open().fetchCursor()
        let child = try Child("say-cursor", folder.path)
        _ = await child.lines()
        let engine = try open()
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        let writing = Task { [data, a] in
            try await engine.core.write(to: engine.table, by: StorageOrigin()) { [table = engine.table] db in
                continuation.yield()
                release.wait()
                try table.write(data, key: a, at: Date(), in: db)
            }
        }
        for await _ in started { break }
        let cursor = try await engine.fetchCursor()
        release.signal()
        _ = try await writing.value
        try await engine.write(data, key: b)
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
        #expect(delta.changes.map(\.key) == [a, b] && delta.changes.allSatisfy { $0.origin != nil })
    }

    @Test("A change that was rolled back leaves no trace in the log")
    func rolledBack() async throws {
        let (engine, mine) = (try open(), StorageOrigin())
        let cursor = try await engine.fetchCursor()
        try foreign("CREATE TRIGGER t BEFORE INSERT ON data WHEN NEW.key = 'b' BEGIN SELECT RAISE(ABORT, 'no'); END")
        await #expect(throws: StorageError.self) {
            try await StorageOrigin.$current.withValue(mine) {
                try await engine.write([(a, data), (b, data)])
            }
        }
        try foreign("INSERT INTO data (key, value, createdAt, updatedAt) VALUES ('x', x'00', '', '')")
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: mine))
        #expect(delta.changes == [StorageChange(key: CacheKey("x"), kind: .written)])
    }

    @Test("A log that was missing only in a transaction that was rolled back is not considered missing later")
    func missingInTransaction() async throws {
        struct Refusal: Error {}
        let (engine, mine) = (try open(), StorageOrigin())
        let cursor = try await engine.fetchCursor()
        let (core, table) = (engine.core, engine.table)
        let schema = Locked(0)
        await #expect(throws: StorageError.self) {
            try await core.writeUnreported { db in
                try table.log.remove(in: db)
                #expect(try core.logs.attribute(to: mine, in: table.log, db) {} == nil)
                try schema.withLock { $0 = try SQLiteLog.schemaVersion(in: db) }
                throw Refusal()
            }
        }
        // Another program brings the schema to the same version.
        var count = 0
        while try await core.readMany(SQLiteLog.schemaVersion(in:)) < schema.withLock({ $0 }) {
            try foreign("CREATE TABLE t\(count) (x)")
            count += 1
        }
        #expect(try await core.readMany(SQLiteLog.schemaVersion(in:)) == schema.withLock { $0 })
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: a) }
        #expect(try await engine.fetchChanges(since: cursor, excluding: mine)?.changes == [])
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil)?.changes.map(\.origin) == [mine])
    }
}
