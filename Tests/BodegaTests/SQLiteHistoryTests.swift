import Bodega
import Foundation
import GRDB
import TestSupport
import Testing

/// The log of an SQLite file's changes.
@Suite(.timeLimit(.minutes(30))) struct SQLiteHistoryTests {

    private let folder = TemporaryFolder()
    private let a = CacheKey("a")
    private let b = CacheKey("b")
    private let data = Data("data".utf8)

    private func open() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    /// Uses the file as a program does that knows nothing of us.
    private func foreign(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try DatabaseQueue(path: folder.file("data.sqlite3").path).write {
            try $0.execute(sql: sql, arguments: arguments)
        }
    }

    private func schema() throws -> [String] {
        try DatabaseQueue(path: folder.file("data.sqlite3").path).read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master ORDER BY name")
        }
    }

    @Test("Who asks for no history pays nothing: the schema is as it was")
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
                "data", "emporium_changes_data", "emporium_changes_data_deleted", "emporium_changes_data_inserted",
                "emporium_changes_data_updated", "sqlite_autoindex_data_1",
            ])
        #expect(try await engine.collectionNames() == [])
        #expect(try await engine.examine().isEmpty)
    }

    @Test("A cursor tells each change after it once, in order, and by whom")
    func order() async throws {
        let (engine, mine) = (try open(), StorageOrigin())
        try await engine.write(data, key: a)
        let cursor = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: b) }
        try await engine.apply([.write(key: a, data: data), .remove(key: CacheKey("absent")), .removeAll])
        let delta = try #require(await engine.fetchChanges(since: cursor, besides: nil))
        #expect(delta.changes.map(\.key) == [b, a, a, b])
        #expect(delta.changes.map(\.kind) == [.written, .written, .removed, .removed])
        #expect(delta.changes.map { $0.origin == mine } == [true, false, false, false])
        #expect(delta.changes.allSatisfy { $0.origin != nil } && delta.isComplete)
        #expect(try await engine.fetchChanges(since: delta.cursor, besides: nil)?.changes == [])
    }

    @Test("What a program writes that knows nothing of us is told, with the keys as we know them")
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
        let delta = try #require(await engine.fetchChanges(since: cursor, besides: nil))
        let told = delta.changes.map { "\($0.kind) \($0.key.rawValue)" }
        #expect(
            told == ["written a", "written b", "written b", "removed b", "written c", "removed a", "removed c"])
        #expect(delta.changes.allSatisfy { $0.origin == nil && $0.key.kind == .hashed })
    }

    @Test("Keys of each kind are told, and an item that only moves to another row is not")
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
        let delta = try #require(await engine.fetchChanges(since: cursor, besides: nil))
        #expect(delta.changes.map(\.key) == [verbatim, hashed, verbatim, verbatim, hashed, hashed, verbatim])
        #expect(delta.changes.map { $0.kind == .written } == [true, true, true, false, true, false, true])
    }

    @Test("What was rolled back is nobody's change")
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
        let delta = try #require(await engine.fetchChanges(since: cursor, besides: mine))
        #expect(delta.changes == [StorageChange(key: CacheKey("x"), kind: .written)])
    }
}
