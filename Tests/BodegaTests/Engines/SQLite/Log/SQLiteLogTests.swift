import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

/// Change logs that other programs damage, replace or copy.
@Suite struct SQLiteLogTests {

    private let folder = TemporaryFolder()
    private let data = Data("data".utf8)
    private var file: URL { folder.file("data.sqlite3") }

    private func open() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }
    private func foreign(_ sql: String...) throws {
        let queue = try DatabaseQueue(path: file.path)
        for sql in sql { try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }
    }

    private func keys(_ delta: StorageDelta?) -> [String]? { delta?.changes.map(\.key.rawValue) }

    @Test("The log is bounded for all writers, and does not know a cursor that is too old")
    func bounded() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let old = try await engine.fetchCursor()
        try await engine.write((0..<60_000).map { (CacheKey(verbatim: "\($0)"), data) })
        let kept = try await engine.fetchCursor()
        try foreign("UPDATE data SET value = x'00'")
        #expect(try await engine.fetchChanges(since: old, excluding: nil) == nil)
        let answer = try await engine.fetchChanges(ChangesRequest(since: old))
        #expect(answer.value == nil && !answer.report.isOtherLog)
        for other in ["\(1 << 40)/1", "100000/1", "\(UUID())/5"] {
            let answer = try await engine.fetchChanges(ChangesRequest(since: StorageCursor(rawValue: other)))
            #expect(answer.value == nil && answer.report.isOtherLog, "\(other)")
        }
        var delta = try #require(await engine.fetchChanges(since: kept, excluding: nil))
        #expect(delta.changes.count == 10_000 && !delta.isComplete)
        var keys = keys(delta) ?? []
        while !delta.isComplete {
            delta = try #require(await engine.fetchChanges(since: delta.cursor, excluding: nil))
            keys += delta.changes.map(\.key.rawValue)
        }
        #expect(keys == (0..<60_000).map { "\($0)" })
        let rows = try await DatabaseQueue(path: file.path).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM emporium_changes_data")
        }
        #expect(rows == 100_000)
        var feed = engine.changes(since: old).makeAsyncIterator()
        guard case .snapshot(let snapshot)? = try await feed.next() else { throw StorageError(.damaged, "No snapshot") }
        #expect(snapshot.items.count == 60_000)
    }

    @Test("After a change of the schema, one pass over it finds the logs of all collections that are followed")
    func passes() async throws {
        let schema = StatementTrace(of: file, .starts, ofStatementsBeginningWith: "SELECT tbl_name, type")
        defer { schema.end() }
        let main = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        var (engines, cursors): ([SQLiteStorageEngine], [StorageCursor]) = ([], [])
        for number in 0..<40 {
            let engine = try main.collection(named: "\(number)")
            // More than a file whose logs begin later may have.
            try await engine.write(Data(count: 20_000), key: CacheKey("a"))
            cursors.append(try await engine.fetchCursor())
            engines.append(engine)
        }
        for engine in engines { try await engine.write(data, key: CacheKey("b")) }
        let ids = try await DatabaseQueue(path: file.path).read {
            try Int.fetchAll($0, sql: "SELECT id FROM emporium_collections WHERE name IN ('3', '5') ORDER BY name")
        }
        try foreign(
            "CREATE TABLE another (id)", "DROP TRIGGER \"emporium_changes_\(ids[0])_updated\"",
            "DROP TABLE \"emporium_changes_\(ids[1])\"")
        schema.reset()
        for (number, engine) in engines.enumerated() {
            let delta = try await engine.fetchChanges(since: cursors[number], excluding: nil)
            #expect(keys(delta) == (number == 3 || number == 5 ? nil : ["b"]), "\(number)")
        }
        // A connection that reads may find them before the one that creates the two logs again, and the schema has
        // another version after that.
        #expect((1...10).contains(schema.count), "\(schema.count)")
    }

    @Test(
        "A log whose triggers, rows, columns or table were removed is detected and created again",
        arguments: [
            ["DROP TRIGGER emporium_changes_data_updated"],
            ["ALTER TABLE emporium_changes_data DROP COLUMN origin"],
            ["DROP TABLE emporium_changes_data", "DROP TRIGGER emporium_changes_data_inserted"],
            ["DELETE FROM emporium_changes_data"],
            ["ALTER TABLE data RENAME TO was", "CREATE TABLE data AS SELECT * FROM was"],
            [
                "DROP TRIGGER emporium_changes_data_inserted",
                "CREATE TRIGGER emporium_changes_data_inserted AFTER INSERT ON data BEGIN SELECT 1; END",
            ],
        ])
    func brokenLog(statements: [String]) async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        try await engine.write(data, key: CacheKey("a"))
        for statement in statements { try foreign(statement) }
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil) == nil)
        let snapshot = try await engine.fetchSnapshot()
        #expect(snapshot.items.map(\.key) == [CacheKey("a")])
        try foreign("UPDATE data SET value = x'02'")
        #expect(keys(try await engine.fetchChanges(since: snapshot.cursor, excluding: nil)) == ["a"])
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil) == nil)
    }

    @Test("A table that was recreated with its triggers is detected")
    func twelveSteps() async throws {
        let engine = try open()
        try await engine.write(data, key: CacheKey("a"))
        let cursor = try await engine.fetchCursor()
        try await DatabaseQueue(path: file.path).write { db in
            let triggers = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger'")
            let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'data'")
            let table = try #require(sql)
            try db.execute(sql: table.replacingOccurrences(of: "\"data\"", with: "new"))
            try db.execute(sql: "INSERT INTO new SELECT 'b', value, createdAt, updatedAt, kind FROM data")
            try db.execute(sql: "DROP TABLE data")
            try db.execute(sql: "ALTER TABLE new RENAME TO data")
            for sql in triggers { try db.execute(sql: sql) }
        }
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil) == nil)
        #expect(try await engine.fetchSnapshot().items.map(\.key) == [CacheKey("b")])
    }

    @Test("Rows of another program under numbers of earlier own changes have no origin")
    func emptiedLog() async throws {
        let (engine, mine) = (try open(), StorageOrigin())
        _ = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) {
            for number in 1...20 { try await engine.write(data, key: CacheKey("\(number)")) }
        }
        let row = "(key, value, createdAt, updatedAt) VALUES"
        try foreign("DELETE FROM emporium_changes_data", "INSERT INTO data \(row) ('x', x'00', '', '')")
        let cursor = try await engine.fetchCursor()
        try foreign("INSERT INTO data \(row) ('y', x'00', '', ''), ('z', x'00', '', '')")
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: mine))
        #expect(keys(delta) == ["y", "z"] && delta.changes.allSatisfy { $0.origin == nil })
    }

    @Test("After a backup was copied into the file, changes of other programs are reported")
    func copiedInPlace() async throws {
        let mine = StorageOrigin()
        var engine = try open()
        _ = try await engine.fetchCursor()
        try await engine.write(data, key: CacheKey("a"))
        let cursor = try await engine.fetchCursor()
        try await engine.close()
        let backup = try Data(contentsOf: file)
        let reader = try SQLiteStorageEngine(readingFile: file)
        #expect(try await reader.fetchCursor() == cursor)
        engine = try open()
        _ = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: CacheKey("b")) }
        try await engine.close()
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: backup)
        try handle.truncate(atOffset: UInt64(backup.count))
        try handle.close()
        try foreign("INSERT INTO data (key, value, createdAt, updatedAt) VALUES ('c', x'00', '', '')")
        #expect(keys(try await reader.fetchChanges(since: cursor, excluding: mine)) == ["c"])
    }

    @Test("A table that was recreated has a log of its own")
    func newTable() async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        try await engine.write(data, key: CacheKey("a"))
        try foreign(
            "DROP TABLE data",
            "CREATE TABLE data (key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL, createdAt TEXT NOT NULL, "
                + "updatedAt TEXT NOT NULL)")
        let second = try open()
        #expect(try await second.fetchChanges(since: cursor, excluding: nil) == nil)
        let now = try await second.fetchCursor()
        try await second.write(data, key: CacheKey("b"))
        #expect(keys(try await second.fetchChanges(since: now, excluding: nil)) == ["b"])
    }

    @Test("A restored backup has another log after the moment of the backup", arguments: [false, true])
    func restored(isReplaced: Bool) async throws {
        let (backup, mine) = (folder.file("backup.sqlite3"), StorageOrigin())
        var engine = try open()
        let early = try await engine.fetchCursor()
        try await engine.write(data, key: CacheKey("a"))
        try await engine.backup(to: backup)
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: CacheKey("b")) }
        let late = try await engine.fetchCursor()
        if isReplaced {
            try await engine.close()
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file.path + suffix) {
                try FileManager.default.removeItem(atPath: file.path + suffix)
            }
            try FileManager.default.copyItem(at: backup, to: file)
            engine = try open()
        } else {
            // Into the open file.
            try DatabaseQueue(path: backup.path).backup(to: DatabaseQueue(path: file.path))
        }
        #expect(try await engine.fetchChanges(since: late, excluding: nil) == nil)
        try foreign("INSERT INTO data (key, value, createdAt, updatedAt) VALUES ('c', x'00', '', '')")
        #expect(try await engine.fetchChanges(since: late, excluding: nil) == nil)
        // Not confused with this process's change of the same number.
        #expect(keys(try await engine.fetchChanges(since: early, excluding: mine)) == ["a", "c"])
    }

    @Test("Compacting and copying the file keep the log")
    func maintenance() async throws {
        let (engine, backup) = (try open(), folder.file("backup.sqlite3"))
        let cursor = try await engine.fetchCursor()
        try await engine.write([(CacheKey("a"), data), (CacheKey("b"), data)])
        try await engine.remove(key: CacheKey("a"))
        try await engine.vacuum()
        #expect(keys(try await engine.fetchChanges(since: cursor, excluding: nil)) == ["a", "b", "a"])
        try await engine.backup(to: backup)
        let copy = try SQLiteStorageEngine(openingFile: backup)
        #expect(keys(try await copy.fetchChanges(since: cursor, excluding: nil)) == ["a", "b", "a"])
        #expect(try await copy.examine().isEmpty)
        try foreign("DROP TABLE data")
        #expect(try await engine.examine().map(\.severity) == [.remark])
    }

    @Test("Each collection has a log of its own")
    func collections() async throws {
        let engine = try open()
        let (one, other) = (try engine.collection(named: "one"), try engine.collection(named: "other"))
        let (inOne, inOther) = (try await one.fetchCursor(), try await other.fetchCursor())
        try await one.write(data, key: CacheKey("a"))
        try await other.write(data, key: CacheKey("b"))
        #expect(keys(try await one.fetchChanges(since: inOne, excluding: nil)) == ["a"])
        #expect(keys(try await other.fetchChanges(since: inOther, excluding: nil)) == ["b"])
        #expect(try await one.fetchChanges(since: inOther, excluding: nil) == nil)
        #expect(try await engine.collectionNames() == ["one", "other"])
        #expect(try await engine.examine().isEmpty)
    }

    @Test("Origins stay known when another collection gets a log, and in concurrent writes")
    func origins() async throws {
        let (engine, mine) = (try open(), StorageOrigin())
        let other = try engine.collection(named: "other")
        let cursor = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) {
            try await engine.write(data, key: CacheKey("a"))
            _ = try await other.fetchCursor()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask { try await engine.write(data, key: CacheKey("\(number)")) }
                    group.addTask { try await other.write(data, key: CacheKey("\(number)")) }
                }
                try await group.waitForAll()
            }
        }
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: mine))
        #expect(delta.changes.isEmpty)
        let all = try #require(await engine.fetchChanges(since: cursor, excluding: nil))
        #expect(all.changes.count == 201 && all.changes.allSatisfy { $0.origin == mine })
    }
}
