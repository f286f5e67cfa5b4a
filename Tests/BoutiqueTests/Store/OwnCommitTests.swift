import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct OwnCommitTests {

    @Test("A store reads the history after its own writes only if others were before them")
    func readsOnlyOthers() async throws {
        let folder = TemporaryFolder()
        let engine = CountingEngine(try SQLiteStorageEngine(opening: folder.directory))
        let store = try await Store<Note>(storage: engine)
        for number in 0..<20 { try await store.insert(Note(id: "\(number)")) }
        try await store.remove(Note(id: "3"))
        try await store.insert([Note(id: "20"), Note(id: "21")])
        #expect(engine.reads == 0)

        try await engine.base.write(JSONEncoder().encode(Note(id: "other")), key: CacheKey("other"))
        try await store.insert(Note(id: "22"))
        #expect(engine.reads > 0)
        #expect(store.items.suffix(3).map(\.id) == ["21", "other", "22"])
        let reads = engine.reads
        try await store.insert(Note(id: "23"))
        #expect(engine.reads == reads)
        #expect(try await engine.base.fetchKeys() == store.items.map { CacheKey($0.id) })
    }
}

/// Counts how often the history is read, and signals nothing.
private final class CountingEngine: CommitTellingStorageEngine {
    let base: SQLiteStorageEngine
    private let count = Locked(0)

    init(_ base: SQLiteStorageEngine) { self.base = base }

    var reads: Int { count.withLock { $0 } }

    func fetchChanges(since cursor: StorageCursor, besides origin: StorageOrigin?) async throws -> StorageDelta? {
        count.withLock { $0 += 1 }
        return try await base.fetchChanges(since: cursor, besides: origin)
    }

    func changeSignals() -> AsyncStream<Void> { AsyncStream { _ in } }
    func changeSignals(besides origin: StorageOrigin) -> AsyncStream<Void> { AsyncStream { _ in } }

    func commit(_ operations: [StorageOperation]) async throws -> StorageCommit? { try await base.commit(operations) }
    func apply(_ operations: [StorageOperation]) async throws { try await base.apply(operations) }
    func fetchCursor() async throws -> StorageCursor { try await base.fetchCursor() }
    func fetchSnapshot() async throws -> StorageSnapshot { try await base.fetchSnapshot() }

    func write(_ data: Data, key: CacheKey) async throws { try await base.write(data, key: key) }
    func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws { try await base.write(dataAndKeys) }
    func read(key: CacheKey) async -> Data? { await base.read(key: key) }
    func remove(key: CacheKey) async throws { try await base.remove(key: key) }
    func removeAllData() async throws { try await base.removeAllData() }
    func keyExists(_ key: CacheKey) async -> Bool { await base.keyExists(key) }
    func allKeys() async -> [CacheKey] { await base.allKeys() }
    func createdAt(key: CacheKey) async -> Date? { await base.createdAt(key: key) }
    func updatedAt(key: CacheKey) async -> Date? { await base.updatedAt(key: key) }
}
