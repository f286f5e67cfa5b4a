import Bodega
import Foundation
import Testing

/// What the change feed of items in memory does beyond the contract of all.
@Suite struct MemoryHistoryTests {

    private let engine = MemoryStorageEngine()
    private let data = Data("data".utf8)

    @Test("A cursor that is too old, or of another history, gets a snapshot")
    func unknownCursors() async throws {
        let old = try await engine.fetchCursor()
        try await engine.write((0...MemoryHistory.limit).map { (CacheKey("\($0)"), data) })
        #expect(try await engine.fetchChanges(since: old, excluding: nil) == nil)
        let another = try await MemoryStorageEngine().fetchCursor()
        #expect(try await engine.fetchChanges(since: another, excluding: nil) == nil)
        #expect(try await engine.fetchChanges(since: StorageCursor(rawValue: "?"), excluding: nil) == nil)
        var feed = engine.changes(since: old).makeAsyncIterator()
        guard case .snapshot(let snapshot)? = try await feed.next() else { throw StorageError(.damaged, "No snapshot") }
        #expect(snapshot.items.count == MemoryHistory.limit + 1)
    }
}
