import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// The origins of changes in the log of an SQLite file.
@Suite struct SQLiteOriginsTests {

    private let folder = TemporaryFolder()
    private let data = Data("data".utf8)
    private let mine = StorageOrigin()
    private let other = StorageOrigin()
    private var file: URL { folder.file("data.sqlite3") }

    private func open() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    private func foreign(_ sql: String...) throws {
        let queue = try DatabaseQueue(path: file.path)
        for sql in sql { try queue.writeWithoutTransaction { try $0.execute(sql: sql) } }
    }

    private func write(_ names: [String], by origin: StorageOrigin, to engine: SQLiteStorageEngine) async throws {
        try await StorageOrigin.$current.withValue(origin) {
            try await engine.write(names.map { (CacheKey(verbatim: $0), data) })
        }
    }

    /// The changes after a cursor, as the first letter of what was done, the name of the key and the origin.
    private func changes(
        since cursor: StorageCursor, excluding origin: StorageOrigin? = nil, in engine: SQLiteStorageEngine
    ) async throws -> [String] {
        let names = [mine: "mine", other: "other"]
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: origin))
        return delta.changes.map { change in
            let origin = change.origin.map { names[$0] ?? "another" } ?? "none"
            return "\(change.kind == .written ? "+" : "-")\(change.key.rawValue) \(origin)"
        }
    }

    @Test("Another process knows the origin of a change")
    func anotherProcess() async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        for (prefix, origin) in [("o", other), ("m", mine)] {
            let child = try Child("write-numbers", folder.path, prefix, "2", origin.id.uuidString)
            #expect(await child.lines().count == 3)
        }
        _ = await (try Child("write-numbers", folder.path, "d", "1")).lines()
        _ = await (try Child("write-rows", folder.path, "wal", "r", "1")).lines()
        let expected = ["+o 0 other", "+o 1 other", "+m 0 mine", "+m 1 mine", "+d 0 another", "+r 0 none"]
        #expect(try await changes(since: cursor, in: engine) == expected)
        #expect(try await changes(since: cursor, excluding: mine, in: engine) == expected)
        let reader = try SQLiteStorageEngine(readingFile: file)
        #expect(try await changes(since: cursor, in: reader) == expected)
    }

    @Test("A follower that excludes its own origin knows its changes after a restart")
    func restart() async throws {
        let first = try open()
        let cursor = try await first.fetchCursor()
        try await write(["a"], by: mine, to: first)
        try await first.close()
        let child = try Child("write-numbers", folder.path, "m", "2", mine.id.uuidString)
        _ = await child.lines()
        let engine = try open()
        let end = try await engine.fetchCursor()
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: mine))
        #expect(delta == StorageDelta(changes: [], cursor: end, isComplete: true))
        #expect(try await engine.fetchChangedItems(since: cursor, excluding: mine)?.cursor == end)
        #expect(
            try await changes(since: cursor, excluding: other, in: engine) == ["+a mine", "+m 0 mine", "+m 1 mine"])
        // Own changes between those of others are reported, so that their order is known.
        try await write(["b"], by: other, to: engine)
        try await write(["c"], by: mine, to: engine)
        var feed = engine.changes(since: cursor, excluding: mine).makeAsyncIterator()
        guard case .changes(let update)? = try await feed.next() else { throw StorageError(.damaged, "No changes") }
        #expect(update.changes.map(\.origin) == [mine, mine, mine, other, mine])
        let items = try #require(await engine.fetchChangedItems(since: cursor, excluding: mine)).items
        #expect(items.map(\.key) == [CacheKey(verbatim: "b")])
    }

    @Test("A backup keeps the origins, and a restored one knows no later ones", arguments: [false, true])
    func backup(isInPlace: Bool) async throws {
        var engine = try open()
        let cursor = try await engine.fetchCursor()
        try await write(["a"], by: mine, to: engine)
        let backup = folder.file("backup.sqlite3")
        try await engine.backup(to: backup)
        let copy = try SQLiteStorageEngine(openingFile: backup)
        #expect(try await changes(since: cursor, in: copy) == ["+a mine"])
        try await copy.close()
        try await write(["b", "c"], by: mine, to: engine)
        if isInPlace {
            try DatabaseQueue(path: backup.path).backup(to: DatabaseQueue(path: file.path))
        } else {
            try await engine.close()
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file.path + suffix) {
                try FileManager.default.removeItem(atPath: file.path + suffix)
            }
            try FileManager.default.copyItem(at: backup, to: file)
            engine = try open()
        }
        // Under the numbers that changes of this process had.
        try foreign("INSERT INTO data (key, value, createdAt, updatedAt) VALUES ('x', x'00', '', '')")
        try await write(["y"], by: other, to: engine)
        #expect(try await changes(since: cursor, excluding: mine, in: engine) == ["+a mine", "+x none", "+y other"])
    }

    @Test("Changes that share a transaction keep their origins, also if one of them fails", arguments: [false, true])
    func groupCommit(hasFailure: Bool) async throws {
        let engine = try open()
        let (core, cursor) = (engine.core, try await engine.fetchCursor())
        let commits = try core.blockingWritable().commits
        try foreign("CREATE TRIGGER t BEFORE INSERT ON data WHEN NEW.key = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END")
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let mayEnd = DispatchSemaphore(value: 0)
        let first = Task {
            try await core.writeUnreported { _ in
                continuation.yield()
                mayEnd.wait()
            }
        }
        for await _ in begun { break }
        var writes: [Task<Void, any Error>] = []
        for number in 0..<20 {
            let origin = number.isMultiple(of: 2) ? mine : other
            let names = number == 3 ? ["n 3", hasFailure ? "bad" : "good"] : ["n \(number)"]
            writes.append(Task { try await write(names, by: origin, to: engine) })
            while commits.waitingCount == number { await Task.yield() }
        }
        mayEnd.signal()
        try await first.value
        for (number, write) in writes.enumerated() {
            var hasFailed = false
            do { try await write.value } catch is StorageError { hasFailed = true }
            #expect(hasFailed == (hasFailure && number == 3))
        }
        let expected = (0..<20).flatMap { number -> [String] in
            let origin = number.isMultiple(of: 2) ? "mine" : "other"
            if number != 3 { return ["+n \(number) \(origin)"] }
            return hasFailure ? [] : ["+n 3 other", "+good other"]
        }
        #expect(try await changes(since: cursor, excluding: mine, in: engine) == expected)
    }

    @Test("Each removed item has the origin of the removal of all", arguments: [3, 300])
    func removal(count: Int) async throws {
        let engine = try open()
        try await write((0..<count).map { "n \($0)" }, by: other, to: engine)
        let cursor = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) { try await engine.removeAllData() }
        #expect(try await changes(since: cursor, excluding: other, in: engine) == (0..<count).map { "-n \($0) mine" })
        #expect(try await changes(since: cursor, excluding: mine, in: engine) == [])
    }

    @Test("What another program replaces has no origin, also if its statement yields and leaves a note in the log")
    func replacedByForeignProgram() async throws {
        let engine = try open()
        try await write(["k", "l"], by: mine, to: engine)
        let cursor = try await engine.fetchCursor()
        let row = "(key, value, createdAt, updatedAt) VALUES ('k', x'00', '', '')"
        try foreign("INSERT INTO data \(row) ON CONFLICT DO NOTHING")
        let notes = try await DatabaseQueue(path: file.path).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM emporium_changes_data WHERE number < 0")
        }
        #expect(notes == 1)
        try await write(["m"], by: other, to: engine)
        try foreign("REPLACE INTO data \(row)")
        try await write(["l"], by: mine, to: engine)
        let expected = ["+m other", "-k none", "+k none", "+l mine"]
        #expect(try await changes(since: cursor, excluding: mine, in: engine) == expected)
    }

    @Test("A batch that bypasses the triggers has its origin in each row")
    func batch() async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        try await write((0..<10_000).map { "\($0)" }, by: mine, to: engine)
        let log = engine.table.log
        #expect(try await engine.core.readMany { try log.isOnlyEffect(in: $0) })
        #expect(try await changes(since: cursor, in: engine) == (0..<10_000).map { "+\($0) mine" })
        let end = try await engine.fetchCursor()
        let delta = try #require(await engine.fetchChanges(since: cursor, excluding: mine))
        #expect(delta == StorageDelta(changes: [], cursor: end, isComplete: true))
    }

    @Test("An engine writes origins into a log that another connection has begun or removed")
    func begunByAnother() async throws {
        let (engine, follower) = (try open(), try open())
        try await write(["a"], by: mine, to: engine)
        for _ in 0..<2 {
            let cursor = try await follower.fetchCursor()
            try await write(["b"], by: mine, to: engine)
            #expect(try await changes(since: cursor, in: follower) == ["+b mine"])
            try await follower.removeChangeLog()
            try await write(["c"], by: mine, to: engine)
        }
    }
}
