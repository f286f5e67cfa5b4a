import Bodega
import BodegaTestSupport
import BodegaTesting
import Boutique
import Foundation
import Testing

/// The snippets of the page on testing, compiled and run.
@Suite struct TestingGuideTests {

    struct Note: Codable, Sendable, Equatable, Identifiable {
        var id: String
        var text = ""
    }

    @MainActor
    final class NotesModel {
        let notes: Store<Note>
        @StoredValue(key: "launches") var launches = 0

        init() async throws {
            notes = try await Store(storage: SQLiteStorageEngine.default(appendingPath: "Notes"))
            $launches.set(launches + 1)
        }
    }

    @MainActor
    @Suite(.temporaryStorage) struct NotesTests {
        @Test func `Notes survive a relaunch`() async throws {
            try await NotesModel().notes.insert(Note(id: "milk"))
            let relaunched = try await NotesModel()
            #expect(relaunched.notes.items == [Note(id: "milk")])
            #expect(relaunched.launches == 2)
        }
    }

    @MainActor
    @Test func `A note can be added`() async throws {
        let store = try await Store<Note>(storage: MemoryStorageEngine())
        try await store.insert(Note(id: "milk"))
        #expect(store.items == [Note(id: "milk")])
    }

    @MainActor
    @Test func `A full disk is reported and changes nothing`() async throws {
        let engine = FaultInjectingStorageEngine(MemoryStorageEngine())
        let store = try await Store<Note>(storage: engine)
        engine.inject(.fail(.writes, with: StorageError(.storageFull, "The volume is full.")))
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "milk")) }
        #expect(store.items.isEmpty)
    }

    @Test func `An item has the date of its first write`() async throws {
        let clock = ManualClock()
        let engine = RecordingStorageEngine(MemoryStorageEngine(now: clock.now))
        let start = clock.current
        try await engine.write(Data("a".utf8), key: CacheKey("a"))
        clock.advance(by: 60)
        try await engine.write(Data("b".utf8), key: CacheKey("a"))
        #expect(engine.calls.map(\.operation) == [.apply, .apply])
        #expect(await engine.createdAt(key: CacheKey("a")) == start)
    }

    @Test func `Values can be tested`() async throws {
        let suite = try #require(UserDefaults(suiteName: UUID().uuidString))
        @StoredValue(key: "size", storage: suite) var size = 12
        @AsyncStoredValue(key: "draft", storage: MemoryStorageEngine()) var draft = ""
        @SecurelyStoredValue<String>(key: "token", storage: MemorySecretStorage()) var token
        $size.set(13)
        try await $draft.set("Dear diary")
        try $token.set("c0ffee")
        #expect(size == 13 && draft == "Dear diary" && token == "c0ffee")
    }
}
