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
@Suite struct SQLiteFeedTests {

    private let folder = TemporaryFolder()
    private let data = Data("data".utf8)

    private func open() throws -> SQLiteStorageEngine {
        withoutPolling(try SQLiteStorageEngine(opening: folder.directory))
    }
    private func openToRead() throws -> SQLiteStorageEngine {
        withoutPolling(try SQLiteStorageEngine(readingFile: folder.file("data.sqlite3")))
    }

    /// Disables polling, so that events cause all reports.
    private func withoutPolling(_ engine: SQLiteStorageEngine) -> SQLiteStorageEngine {
        engine.core.watch.begin(on: engine.core, in: FileWatch.Surroundings(longestPause: nil))
        return engine
    }

    /// The first changes after a cursor, and snapshots.
    private func reported(
        _ count: Int,
        by engine: SQLiteStorageEngine,
        since cursor: StorageCursor
    ) async throws -> [String] {
        var reported: [String] = []
        for try await update in engine.changes(since: cursor) {
            switch update {
            case .snapshot: reported.append("snapshot")
            case .changes(let delta): reported += delta.changes.map { "\($0.kind) \($0.key.rawValue)" }
            }
            if reported.count >= count { break }
        }
        return reported
    }

    @Test("Changes of another process are reported once and in order")
    func anotherProcess() async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        async let reported = reported(200, by: engine, since: cursor)
        let child = try Child("write-numbers", folder.path, "n", "200")
        #expect(try await reported == (0..<200).map { "written n \($0)" })
        #expect(await child.lines().count == 201)
    }

    @Test("Changes of a program that does not use this package are reported")
    func anotherProgram() async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        async let reported = reported(100, by: engine, since: cursor)
        let child = try Child("write-rows", folder.path, "wal", "r", "100")
        #expect(try await reported == (0..<100).map { "written r \($0)" })
        #expect(await child.lines().count == 100)
    }

    @Test(
        "An engine that may not write follows a file in each mode in which other programs write to it",
        arguments: ["wal", "delete", "truncate", "persist"])
    func modes(mode: String) async throws {
        let engine = try open()
        let cursor = try await engine.fetchCursor()
        try await engine.close()
        // Changing the mode requires that no other program has the file open.
        _ = await (try Child("write-rows", folder.path, mode, "a", "1")).lines()
        let names = try folder.names()
        let reader = try openToRead()
        async let reported = reported(51, by: reader, since: cursor)
        let child = try Child("write-rows", folder.path, mode, "b", "50")
        #expect(try await reported == ["written a 0"] + (0..<50).map { "written b \($0)" })
        _ = await child.lines()
        try await reader.close()
        if mode != "wal" { #expect(try folder.names() == names) }
    }

    @Test("Writers and followers that were killed continue where they were")
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
            // At an arbitrary moment.
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
        let reported = ((state as? [String: Any])?["changes"] as? [String]) ?? []
        // Committed changes that the writer had not printed are reported, too.
        let stored = try await engine.fetchKeys().map { "written \($0.rawValue)" }
        #expect(reported == stored)
        #expect(Set(written.map { "written \($0)" }).isSubset(of: reported) && written.count > 200)
    }

    @Test("Many processes that create a log simultaneously create one")
    func beginningAtOnce() async throws {
        for _ in 0..<3 {
            let folder = TemporaryFolder()
            let children = try (0..<6).map { _ in try Child("say-cursor", folder.path) }
            var cursors: Set<String> = []
            for child in children { cursors.formUnion(await child.lines()) }
            #expect(cursors.count == 1, "\(cursors)")
        }
    }

    @Test("A file that stays locked is reported")
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

    @Test("An engine that may not write throws if there is no log, and leaves no trace when it follows one")
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
        // A file event wakes it up even if it has not read the log.
        var signals = second.changeSignals().makeAsyncIterator()
        _ = await signals.next()
        _ = await (try Child("write-numbers", folder.path, "n", "1")).lines()
        _ = await signals.next()
    }

    @Test("Following a file that is removed or replaced throws", arguments: [false, true])
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

    @Test("An engine that may not write gets a snapshot of a file that replaces its own, and an error if there is none")
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

    @Test("Where the system reports no events, the file is polled")
    func polling() async throws {
        let engine = try open()
        var surroundings = FileWatch.Surroundings(longestPause: nil)
        surroundings.makeEvents = { _, _, _, _ in throw StorageError(.inputOutput, "No events.") }
        engine.core.watch.begin(on: engine.core, in: surroundings)
        let cursor = try await engine.fetchCursor()
        async let reported = reported(50, by: engine, since: cursor)
        let child = try Child("write-numbers", folder.path, "n", "50")
        #expect(try await reported == (0..<50).map { "written n \($0)" })
        _ = await child.lines()
    }

    @Test("Engines in one process with connections of their own are signaled, and know the origins")
    func twoFiles() async throws {
        let (one, other, mine) = (try open(), try open(), StorageOrigin())
        let cursor = try await one.fetchCursor()
        var feed = one.changes(since: cursor).makeAsyncIterator()
        try await StorageOrigin.$current.withValue(mine) { try await other.write(data, key: CacheKey("a")) }
        guard case .changes(let delta)? = try await feed.next() else { throw StorageError(.damaged, "No changes") }
        #expect(delta.changes == [StorageChange(key: CacheKey("a"), kind: .written, origin: mine)])
    }

    @Test("One descriptor watches all files, as long as there are followers", .enabled(if: hasProc))
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

    @Test("A closed engine ends a feed, also one with unread changes")
    func closedBeforeTelling() async throws {
        let engine = try open()
        var feeds = [engine.changes(since: try await engine.fetchCursor()), engine.changes()].map {
            $0.makeAsyncIterator()
        }
        try await engine.write(data, key: CacheKey("a"))
        try await engine.close()
        for index in feeds.indices {
            guard try await feeds[index].next() == nil else {
                Issue.record("A closed engine reports changes.")
                return
            }
        }
    }

    @Test("An engine that can't be closed continues to signal")
    func notClosed() async throws {
        let engine = try open()
        var signals = engine.changeSignals().makeAsyncIterator()
        _ = await signals.next()
        let statement = Locked<Statement?>(nil)
        try await engine.core.blockingWritable().writer.writeWithoutTransaction { db in
            let made = try db.makeStatement(sql: "SELECT 1 UNION SELECT 2")
            statement.withLock { $0 = made }
        }
        await #expect(throws: StorageError.self) { try await engine.close() }
        var later = engine.changeSignals().makeAsyncIterator()
        #expect(await later.next() != nil)
        engine.core.watch.close()
        // A signal may have been sent before. Then the sequence ends.
        while await later.next() != nil {}
    }

    @Test("The cursor of a feed moves past omitted changes")
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
        guard case .changes(let delta)? = try await feed.next() else { throw StorageError(.damaged, "No changes") }
        #expect(delta.cursor == feed.cursor)
        feed = engine.changes().makeAsyncIterator()
        #expect(feed.cursor == nil)
    }
}

private let hasProc = FileManager.default.fileExists(atPath: "/proc/self/fd")
