import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Following an SQLite file that others change.
@Suite(.timeLimit(.minutes(30))) struct SQLiteFeedTests {

    private let folder = TemporaryFolder()
    private let data = Data("data".utf8)

    private func open() throws -> SQLiteStorageEngine {
        withoutPolling(try SQLiteStorageEngine(opening: folder.directory))
    }
    private func openToRead() throws -> SQLiteStorageEngine {
        withoutPolling(try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3")))
    }

    /// So that what is told is told because of an event.
    private func withoutPolling(_ engine: SQLiteStorageEngine) -> SQLiteStorageEngine {
        engine.core.watch.begin(on: engine.core, in: FileWatch.Surroundings(longestPause: nil))
        return engine
    }

    /// What is told after a cursor until so many changes.
    private func told(
        _ count: Int,
        by engine: SQLiteStorageEngine,
        since cursor: StorageCursor
    ) async throws -> [String] {
        var told: [String] = []
        for try await update in engine.changes(since: cursor) {
            switch update {
            case .snapshot: told.append("snapshot")
            case .changes(let delta): told += delta.changes.map { "\($0.kind) \($0.key.rawValue)" }
            }
            if told.count >= count { break }
        }
        return told
    }

    @Test("What another process writes is told, each change once and in order")
    func anotherProcess() async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        async let told = told(200, by: engine, since: cursor)
        let child = try Child("write-numbers", folder.path, "n", "200")
        #expect(try await told == (0..<200).map { "written n \($0)" })
        #expect(await child.lines().count == 201)
    }

    @Test("What a program writes that knows nothing of us is told")
    func anotherProgram() async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        async let told = told(100, by: engine, since: cursor)
        let child = try Child("write-rows", folder.path, "wal", "r", "100")
        #expect(try await told == (0..<100).map { "written r \($0)" })
        #expect(await child.lines().count == 100)
    }

    @Test(
        "A file is followed in whatever mode others write to it, by who may not write",
        arguments: ["wal", "delete", "truncate", "persist"])
    func modes(mode: String) async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        try await engine.close()
        // Changes the mode, alone.
        _ = await (try Child("write-rows", folder.path, mode, "a", "1")).lines()
        let names = try folder.names()
        let reader = try openToRead()
        async let told = told(51, by: reader, since: cursor)
        let child = try Child("write-rows", folder.path, mode, "b", "50")
        #expect(try await told == ["written a 0"] + (0..<50).map { "written b \($0)" })
        _ = await child.lines()
        try await reader.close()
        if mode != "wal" { #expect(try folder.names() == names) }
    }

    @Test("Who is killed goes on where he was, and so does who follows", .timeLimit(.minutes(5)))
    func killed() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let file = folder.file("told.json").path
        let follower = try Child("follow", folder.path, file)
        #expect(await follower.nextLine() == "following")
        var written: [String] = []
        var current = follower
        for round in 0..<6 {
            let writer = try Child("write-numbers", folder.path, "\(round)", "0")
            for _ in 0..<40 { if let line = await writer.nextLine(), line != "opened" { written.append(line) } }
            // In the midst of whatever they do.
            if round.isMultiple(of: 2) { current.kill() }
            writer.kill()
            for line in await writer.lines() where line != "opened" { written.append(line) }
            if round.isMultiple(of: 2) {
                _ = await current.lines()
                current = try Child("follow", folder.path, file)
            }
        }
        try await engine.write(data, key: CacheKey("end"))
        _ = await current.lines()
        let state = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: file)))
        let told = ((state as? [String: Any])?["changes"] as? [String]) ?? []
        // What was committed, but not said before the end, is told as well.
        let stored = try await engine.fetchKeys().map { "written \($0.rawValue)" }
        #expect(told == stored)
        #expect(Set(written.map { "written \($0)" }).isSubset(of: told) && written.count > 200)
    }

    @Test("Many processes begin one history at the same moment")
    func beginningAtOnce() async throws {
        for _ in 0..<3 {
            let folder = TemporaryFolder()
            let children = try (0..<6).map { _ in try Child("say-cursor", folder.path) }
            var cursors: Set<String> = []
            for child in children { cursors.formUnion(await child.lines()) }
            #expect(cursors.count == 1, "\(cursors)")
        }
    }

    @Test("A file that stays locked is said to be")
    func locked() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory, lockTimeout: 0.01)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.file("data.sqlite3").path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let error = try await #require(throws: StorageError.self) { try await engine.fetchCursor() }
        #expect(error.code == .locked)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        _ = try await engine.fetchCursor()
    }

    @Test("Who may not write says that he can't begin a history, and leaves no trace when he follows one")
    func readingOnly() async throws {
        let engine = try open()
        try await engine.write(data, key: CacheKey("a"))
        let reader = try openToRead()
        let error = try await #require(throws: StorageError.self) { try await reader.fetchSnapshot() }
        #expect(error.code == .readOnly)
        let cursor = try await engine.fetchCursor()
        #expect(try await reader.fetchCursor() == cursor)
        try await reader.close()
        try await engine.close()
        let names = try folder.names()
        let second = try openToRead()
        #expect(try await second.fetchSnapshot().cursor == cursor)
        #expect(try await second.fetchChanges(since: cursor, excluding: nil)?.changes == [])
        #expect(try folder.names() == names)
        // A file event wakes it up also without a look at the log.
        var signals = second.changeSignals().makeAsyncIterator()
        _ = await signals.next()
        _ = await (try Child("write-numbers", folder.path, "n", "1")).lines()
        _ = await signals.next()
    }

    @Test("Who follows a file that is removed or replaced is told so", arguments: [false, true])
    func removed(isReplaced: Bool) async throws {
        let engine = try open()
        var feed = engine.changes(since: try await engine.fetchCursor()).makeAsyncIterator()
        try await engine.write(data, key: CacheKey("a"))
        _ = try await feed.next()
        let file = folder.file("data.sqlite3")
        if isReplaced {
            let other = TemporaryFolder()
            _ = try SQLiteStorageEngine(opening: other.directory)
            try FileManager.default.moveItem(at: file, to: other.file("old"))
            try FileManager.default.copyItem(at: other.file("data.sqlite3"), to: file)
        } else {
            try FileManager.default.removeItem(at: file)
        }
        let error = await #expect(throws: StorageError.self) { _ = try await feed.next() }
        #expect(error?.code == .placeRemoved)
    }

    @Test("Who may only read is told of a file that takes the place of his by a snapshot, and of none by an error")
    func removedBeforeReader() async throws {
        let engine = try open()
        try await engine.write(data, key: CacheKey("a"))
        let reader = try openToRead()
        var feed = reader.changes(since: try await engine.fetchCursor()).makeAsyncIterator()
        try await engine.write(data, key: CacheKey("b"))
        _ = try await feed.next()
        let other = TemporaryFolder()
        let new = try SQLiteStorageEngine(opening: other.directory)
        _ = try await new.fetchCursor()
        try await new.close()
        try await engine.close()
        let file = folder.file("data.sqlite3")
        for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: file.path + suffix) {
            try FileManager.default.removeItem(atPath: file.path + suffix)
        }
        // As programs publish files: by a rename.
        #expect(rename(other.file("data.sqlite3").path, file.path) == 0)
        guard case .snapshot(let snapshot)? = try await feed.next() else {
            throw StorageError(.damaged, "No snapshot")
        }
        #expect(snapshot.items.isEmpty)
        try FileManager.default.removeItem(at: file)
        let error = await #expect(throws: StorageError.self) { _ = try await feed.next() }
        #expect(error?.code == .placeRemoved)
    }

    @Test("Where the system tells nothing, the file is looked at")
    func polling() async throws {
        let engine = try open()
        var surroundings = FileWatch.Surroundings(longestPause: nil)
        surroundings.makeEvents = { _, _, _, _ in throw StorageError(.inputOutput, "No events.") }
        engine.core.watch.begin(on: engine.core, in: surroundings)
        let cursor = try await engine.fetchCursor()
        async let told = told(50, by: engine, since: cursor)
        let child = try Child("write-numbers", folder.path, "n", "50")
        #expect(try await told == (0..<50).map { "written n \($0)" })
        _ = await child.lines()
    }

    @Test("Engines in one process that have opened the file each for itself hear each other, and know who it was")
    func twoFiles() async throws {
        let (one, other, mine) = (try open(), try open(), StorageOrigin())
        let cursor = try await one.fetchCursor()
        var feed = one.changes(since: cursor).makeAsyncIterator()
        try await StorageOrigin.$current.withValue(mine) { try await other.write(data, key: CacheKey("a")) }
        guard case .changes(let delta)? = try await feed.next() else { throw StorageError(.damaged, "No changes") }
        #expect(delta.changes == [StorageChange(key: CacheKey("a"), kind: .written, origin: mine)])
    }

    @Test("One listens to the system for all files, as long as somebody listens to him", .enabled(if: hasProc))
    func descriptors() async throws {
        #expect(await (try Child("count-descriptors", folder.path)).lines() == ["1", "1", "1", "done"])
    }

    @Test("A closed engine ends its signals")
    func closed() async throws {
        let engine = try open()
        let signals = engine.changeSignals()
        try await engine.close()
        for await _ in signals {}
        for await _ in engine.changeSignals() { Issue.record("A closed engine signals.") }
    }

    @Test("A closed engine ends a feed, also one that has not told all yet")
    func closedBeforeTelling() async throws {
        let engine = try open()
        var feeds = [engine.changes(since: try await engine.fetchCursor()), engine.changes()].map {
            $0.makeAsyncIterator()
        }
        try await engine.write(data, key: CacheKey("a"))
        try await engine.close()
        for index in feeds.indices {
            guard try await feeds[index].next() == nil else {
                Issue.record("A closed engine tells news.")
                return
            }
        }
    }

    @Test("An engine that can't be closed goes on telling")
    func notClosed() async throws {
        let engine = try open()
        var signals = engine.changeSignals().makeAsyncIterator()
        _ = await signals.next()
        guard case .pool(let pool, _) = engine.core.connections else { return }
        let statement = Locked<Statement?>(nil)
        try await pool.writeWithoutTransaction { db in
            let made = try db.makeStatement(sql: "SELECT 1 UNION SELECT 2")
            statement.withLock { $0 = made }
        }
        await #expect(throws: StorageError.self) { try await engine.close() }
        var later = engine.changeSignals().makeAsyncIterator()
        #expect(await later.next() != nil)
        engine.core.watch.close()
        #expect(await later.next() == nil)
    }

    @Test("The cursor of a feed moves over what it leaves out")
    func cursorBesides() async throws {
        let (engine, mine) = (try open(), StorageOrigin())
        let start = try await engine.fetchCursor()
        var feed = engine.changes(since: start, excluding: mine).makeAsyncIterator()
        #expect(feed.cursor == start)
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: CacheKey("a")) }
        let behind = try await engine.fetchCursor()
        let delta = try #require(await engine.fetchChanges(since: start, excluding: mine))
        #expect(delta.changes.isEmpty && delta.cursor == behind)
        try await engine.write(data, key: CacheKey("b"))
        guard case .changes(let news)? = try await feed.next() else { throw StorageError(.damaged, "No changes") }
        #expect(news.cursor == feed.cursor)
        feed = engine.changes().makeAsyncIterator()
        #expect(feed.cursor == nil)
    }
}

private let hasProc = FileManager.default.fileExists(atPath: "/proc/self/fd")
