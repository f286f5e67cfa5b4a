import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// What followers that also write need not read.
@Suite struct SQLiteCommitTests {

    private let folder = TemporaryFolder()
    private let own = StorageOrigin()
    private let other = StorageOrigin()

    private func open() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    private func insertForeign(_ key: String) async throws {
        try await DatabaseQueue(path: folder.file("data.sqlite3").path).write { db in
            try db.execute(
                sql: "INSERT INTO data (key, value, createdAt, updatedAt) VALUES (?, x'00', '', '')", arguments: [key])
        }
    }

    private func write(
        _ key: String, to engine: SQLiteStorageEngine, by origin: StorageOrigin
    ) async throws -> StorageCommit? {
        try await StorageOrigin.$current.withValue(origin) {
            try await engine.apply(StorageBatch([.write(key: CacheKey(key), data: Data(key.utf8))])).value.commit
        }
    }

    @Test("A commit returns the positions before and after it, even if others commit in between")
    func places() async throws {
        let engine = try open()
        #expect(try await write("early", to: engine, by: own) == nil)
        let start = try await engine.fetchCursor()
        let first = try #require(try await write("a", to: engine, by: own))
        #expect(try await engine.fetchCursor() == first.after)
        #expect(first.before == start && first.after != start)
        try await insertForeign("b")
        let foreign = try await engine.fetchCursor()
        let second = try #require(try await write("c", to: engine, by: own))
        #expect(second.before == foreign && foreign != first.after)
        let delta = try #require(try await engine.fetchChanges(since: first.after, excluding: nil))
        #expect(delta.changes.map(\.origin) == [nil, own] && delta.cursor == second.after)
        let nothing = try #require(
            try await engine.apply(StorageBatch([.remove(key: CacheKey("absent"))])).value.commit)
        #expect(nothing.before == second.after && nothing.after == second.after)
        #expect(try await engine.apply(StorageBatch([])).value.commit == nil)
    }

    @Test("Concurrent commits return consecutive positions")
    func manyAtOnce() async throws {
        let engine = try open()
        let start = try await engine.fetchCursor()
        let commits = try await withThrowingTaskGroup(of: StorageCommit?.self) { group in
            for number in 0..<200 {
                group.addTask { try await write("\(number % 50)", to: engine, by: number % 2 == 0 ? own : other) }
            }
            var commits: [StorageCursor: StorageCursor] = [:]
            for try await commit in group { if let commit { commits[commit.before] = commit.after } }
            return commits
        }
        #expect(commits.count == 200)
        var place = start
        for _ in 0..<200 { place = try #require(commits[place]) }
        #expect(try await engine.fetchCursor() == place)
    }

    @Test("A follower is not woken up by its own writes, unless an earlier change was not signaled")
    func signals() async throws {
        let engine = try open()
        _ = try await engine.fetchCursor()
        // No file events and no timer.
        engine.core.watch.begin(on: engine.core, in: .silent)
        var ownSignals = engine.changeSignals(excluding: own).makeAsyncIterator()
        var otherSignals = engine.changeSignals(excluding: other).makeAsyncIterator()
        for _ in 0..<2 {
            // One immediately, and one for the first commit: the changes before it are unknown.
            _ = await (ownSignals.next(), otherSignals.next())
            _ = try await write("a", to: engine, by: own)
        }
        _ = await otherSignals.next()
        _ = try await write("b", to: engine, by: other)
        #expect(await ownSignals.next() != nil)
        try await insertForeign("c")
        _ = try await write("d", to: engine, by: own)
        #expect(await ownSignals.next() != nil)
        #expect(await otherSignals.next() != nil)
        // None for its own commits.
        _ = try await write("e", to: engine, by: own)
        try await engine.close()
        #expect(await ownSignals.next() == nil)
        #expect(await otherSignals.next() != nil)
    }
}

extension FileWatch.Surroundings {
    /// No events.
    fileprivate static var silent: FileWatch.Surroundings {
        struct Nothing: FileEvents, FileWatchTimer {
            func schedule(after milliseconds: Int?) {}
            func cancel() {}
        }
        var surroundings = FileWatch.Surroundings()
        surroundings.makeEvents = { _, _, _, _ in Nothing() }
        surroundings.makeTimer = { _, _ in Nothing() }
        return surroundings
    }
}
