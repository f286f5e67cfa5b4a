import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// What opening, the first read and the first write of a file cost.
@Suite(.serialized) struct SQLiteOpeningTests {

    private let folder = TemporaryFolder()
    private let key = CacheKey("a")
    private let data = Data("data".utf8)

    private func open() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    private func readSnapshot(of engine: SQLiteStorageEngine) async throws -> StorageCursor {
        try await engine.readSnapshot { _, _ in }
    }

    @Test("A new file is opened with three syncs, and its first write is durable with one more")
    func newFile() async throws {
        SQLiteFileCalls.watch(folder)
        let engine = try open()
        // One of the journal, whose first sync also syncs the folder, and one of the file itself.
        #expect(SQLiteFileCalls.of(folder).syncs == ["data.sqlite3-journal": 1, "data.sqlite3": 1])
        _ = try await readSnapshot(of: engine)
        try await engine.write(data, key: key)
        #expect(
            SQLiteFileCalls.of(folder).syncs == ["data.sqlite3-journal": 1, "data.sqlite3": 1, "data.sqlite3-wal": 1])
        #expect(SQLiteFileCalls.of(folder).opened.filter { $0 == "data.sqlite3" }.count == 1)
    }

    @Test("What was written to a new file is there after a power failure that leaves only what was synced")
    func newFileAfterPowerFailure() async throws {
        SQLiteFileCalls.watch(folder)
        let engine = try open()
        try await engine.write(data, key: key)
        let copy = TemporaryFolder()
        for (name, bytes) in SQLiteFileCalls.of(folder).syncedBytes where name != "data.sqlite3-journal" {
            try bytes.write(to: copy.file(name))
        }
        withExtendedLifetime(engine) {}
        let found = try await DatabaseQueue(path: copy.file("data.sqlite3").path).read { db in
            try Data.fetchOne(db, sql: "SELECT value FROM data WHERE key = 'a'")
        }
        #expect(found == data)
    }

    @Test("A file whose WAL was lost before its first durable write is opened as a new one")
    func newFileWithoutWAL() async throws {
        let engine = try open()
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(at: folder.file("data.sqlite3"), to: copy.file("data.sqlite3"))
        withExtendedLifetime(engine) {}
        let again = try SQLiteStorageEngine(opening: copy.directory)
        #expect(try await again.fetchCount() == 0)
        try await again.write(data, key: key)
        #expect(try await again.fetch(key: key) == data)
        #expect(try await again.examine().isEmpty)
    }

    @Test("A file is opened, read and followed by a store with one connection, without a sync or a write")
    func existingFile() async throws {
        let writer = try open()
        try await writer.write(data, key: key)
        try await writer.close()
        SQLiteFileCalls.watch(folder)
        let engine = try open()
        #expect(try await engine.fetch(key: key) == data)
        let cursor = try await readSnapshot(of: engine)
        #expect(try await engine.fetchChangedItems(since: cursor, excluding: nil)?.changes == [])
        let calls = SQLiteFileCalls.of(folder)
        #expect(calls.syncCount == 0)
        #expect(calls.opened == ["data.sqlite3", "data.sqlite3-wal"])
        #expect(try Data(contentsOf: folder.file("data.sqlite3-wal")).isEmpty)
    }

    @Test("The first write after a store has read creates the log with the sync of its own commit")
    func firstWrite() async throws {
        SQLiteFileCalls.watch(folder)
        let engine = try open()
        try await engine.write(data, key: key)
        let cursor = try await readSnapshot(of: engine)
        SQLiteFileCalls.watch(folder)
        let commit = try await engine.apply(StorageBatch([.remove(key: key)])).value.commit
        #expect(commit?.before == cursor)
        // Those of files that were opened before are counted, too.
        #expect(SQLiteFileCalls.of(folder).syncs == ["data.sqlite3-wal": 1])
        let after = try #require(commit?.after)
        #expect(after == (try await engine.fetchCursor()))
        let changes = try await engine.fetchChanges(since: cursor, excluding: nil)?.changes
        #expect(changes?.map(\.key) == [key])
        #expect(changes?.map(\.kind) == [.removed])
    }
}
