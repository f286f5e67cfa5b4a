import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct OwnCommitTests {

    @Test("A store reads the log after its own write only if another origin has written before it")
    func readsOnlyForeignChanges() async throws {
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

    @Test("A store whose rewrite of old records has failed omits the changes of its new origin")
    func followsAgainAfterRewriting() async throws {
        let folder = TemporaryFolder()
        let engine = CountingEngine(try SQLiteStorageEngine(opening: folder.directory))
        try await Store<NoteV1>(storage: engine.base, cacheIdentifier: \.id).insert(NoteV1(id: "a", text: "old"))
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) { Note(id: $0.id, text: $0.text) }
        engine.failsNextCommit.withLock { $0 = true }
        let store = try await Store<Note>(storage: engine, migration: migration)
        #expect(!engine.failsNextCommit.withLock { $0 })
        try await store.insert(Note(id: "b"))
        #expect(engine.followedOrigins.withLock { $0.count } == 2)
        #expect(engine.followedOrigins.withLock { $0.last } == engine.lastOrigin.withLock { $0 })
    }
}

/// An engine that counts reads of its log, records origins, and signals nothing.
private struct CountingEngine: ThrowingStorageEngine, CommitReportingStorageEngine {
    let base: SQLiteStorageEngine
    /// The origins that were excluded from signals.
    let followedOrigins = Locked<[StorageOrigin]>([])
    /// The origin of the last commit.
    let lastOrigin = Locked<StorageOrigin?>(nil)
    let failsNextCommit = Locked(false)
    private let count = Locked(0)

    init(_ base: SQLiteStorageEngine) { self.base = base }

    var reads: Int { count.withLock { $0 } }

    func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws -> StorageDelta? {
        count.withLock { $0 += 1 }
        return try await base.fetchChanges(since: cursor, excluding: origin)
    }

    func changeSignals() -> AsyncStream<Void> { AsyncStream { _ in } }

    func changeSignals(excluding origin: StorageOrigin) -> AsyncStream<Void> {
        followedOrigins.withLock { $0.append(origin) }
        return AsyncStream { _ in }
    }

    func commit(_ operations: [StorageOperation]) async throws -> StorageCommit? {
        lastOrigin.withLock { $0 = StorageOrigin.current }
        let fails = failsNextCommit.withLock { fails in
            defer { fails = false }
            return fails
        }
        if fails { throw StorageError(.inputOutput, "The connection is lost.") }
        return try await base.commit(operations)
    }

    func apply(_ operations: [StorageOperation]) async throws { try await base.apply(operations) }
    func fetchCursor() async throws -> StorageCursor { try await base.fetchCursor() }
    func fetchSnapshot() async throws -> StorageSnapshot { try await base.fetchSnapshot() }
    func fetch(key: CacheKey) async throws -> Data? { try await base.fetch(key: key) }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await base.fetchAll() }
    func fetchKeys() async throws -> [CacheKey] { try await base.fetchKeys() }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { try await base.fetchDates(key: key) }
}
