import Bodega
import Foundation
import Testing

/// The change feed of items in memory.
@Suite(.timeLimit(.minutes(30))) struct MemoryHistoryTests {

    private let engine = MemoryStorageEngine()
    private let a = CacheKey("a")
    private let b = CacheKey("b")
    private let data = Data("data".utf8)

    @Test("A cursor tells each change after it once, in order, and by whom")
    func order() async throws {
        let mine = StorageOrigin()
        try await engine.write(data, key: a)
        let cursor = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: b) }
        try await engine.apply([.write(key: a, data: data), .remove(key: CacheKey("absent")), .removeAll])
        let delta = try #require(await engine.fetchChanges(since: cursor, besides: nil))
        #expect(delta.changes.map(\.key) == [b, a, a, b])
        #expect(delta.changes.map(\.kind) == [.written, .written, .removed, .removed])
        #expect(delta.changes.map { $0.origin == mine } == [true, false, false, false])
        #expect(try await engine.fetchChanges(since: delta.cursor, besides: nil)?.changes == [])
    }

    @Test("Who has made all changes hears of none")
    func own() async throws {
        let mine = StorageOrigin()
        let cursor = try await engine.fetchCursor()
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: a) }
        let delta = try #require(await engine.fetchChanges(since: cursor, besides: mine))
        #expect(delta.changes.isEmpty && delta.cursor != cursor)
        try await engine.remove(key: a)
        try await StorageOrigin.$current.withValue(mine) { try await engine.write(data, key: b) }
        let mixed = try #require(await engine.fetchChanges(since: delta.cursor, besides: mine))
        #expect(mixed.changes.map(\.key) == [a, b])
    }

    @Test("A feed begins with a snapshot, or after its cursor")
    func feed() async throws {
        try await engine.write(data, key: a)
        var feed = engine.changes().makeAsyncIterator()
        guard case .snapshot(let snapshot)? = try await feed.next() else { throw StorageError(.damaged, "No snapshot") }
        #expect(snapshot.items.map(\.key) == [a])
        async let news = feed.next()
        try await engine.write(data, key: b)
        #expect(try await news?.changedKeys == [b])
        var resumed = engine.changes(since: snapshot.cursor).makeAsyncIterator()
        #expect(try await resumed.next()?.changedKeys == [b])
    }

    @Test("A cursor that is too old, or of another history, gets a snapshot")
    func unknownCursors() async throws {
        let old = try await engine.fetchCursor()
        try await engine.write((0...MemoryHistory.limit).map { (CacheKey("\($0)"), data) })
        #expect(try await engine.fetchChanges(since: old, besides: nil) == nil)
        let another = try await MemoryStorageEngine().fetchCursor()
        #expect(try await engine.fetchChanges(since: another, besides: nil) == nil)
        #expect(try await engine.fetchChanges(since: StorageCursor(rawValue: "?"), besides: nil) == nil)
        var feed = engine.changes(since: old).makeAsyncIterator()
        guard case .snapshot(let snapshot)? = try await feed.next() else { throw StorageError(.damaged, "No snapshot") }
        #expect(snapshot.items.count == MemoryHistory.limit + 1)
    }

    @Test("A feed whose task is cancelled ends")
    func cancelling() async throws {
        let task = Task { [engine] in
            var count = 0
            for try await _ in engine.changes() { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value <= 1)
    }
}

extension StorageNews {
    /// The keys of the changes, `nil` for a snapshot.
    fileprivate var changedKeys: [CacheKey]? {
        if case .changes(let delta) = self { delta.changes.map(\.key) } else { nil }
    }
}
