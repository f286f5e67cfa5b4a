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
        #expect(engine.followedOrigins.withLock { $0.count } == 1)
        #expect(engine.followedOrigins.withLock { $0.last } == engine.lastOrigin.withLock { $0 })
    }
}
