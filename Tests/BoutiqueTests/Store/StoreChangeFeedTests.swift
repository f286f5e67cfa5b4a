import Bodega
import BodegaTesting
import Boutique
import Foundation
import Testing

@MainActor
@Suite struct StoreChangeFeedTests {

    /// Memory that tells of changes when the test says so.
    private struct ToldEngine: ProcessObservableEngine {
        let memory = MemoryStorageEngine()
        let stream = AsyncThrowingStream.makeStream(of: ProcessChange.self)

        func changes() -> AsyncThrowingStream<ProcessChange, any Error> { stream.stream }
        func tell(_ change: ProcessChange) { stream.continuation.yield(change) }

        func write(_ data: Data, key: CacheKey) async throws { try await memory.write(data, key: key) }
        func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws { try await memory.write(dataAndKeys) }
        func read(key: CacheKey) async -> Data? { await memory.read(key: key) }
        func remove(key: CacheKey) async throws { try await memory.remove(key: key) }
        func removeAllData() async throws { try await memory.removeAllData() }
        func keyExists(_ key: CacheKey) async -> Bool { await memory.keyExists(key) }
        func allKeys() async -> [CacheKey] { await memory.allKeys() }
        func createdAt(key: CacheKey) async -> Date? { await memory.createdAt(key: key) }
        func updatedAt(key: CacheKey) async -> Date? { await memory.updatedAt(key: key) }
    }

    @Test("A store follows what others change, item by item")
    func following() async throws {
        let engine = ToldEngine()
        let other = try await Store<Note>(storage: engine.memory)
        try await other.insert(notes("a", "b"))
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)

        try await other.remove(id: "a").insert(notes("c", "b")).run()
        engine.tell(.items(["c", "a", "b"].map { CacheKey($0) }))
        let insertion = await events.next()
        #expect(insertion?.inserted == ["c"] && insertion?.updated == ["b"])
        #expect(await events.next()?.removed == ["a"])
        #expect(store.items == notes("b", "c"))

        try await engine.memory.write(Data("?".utf8), key: CacheKey("b"))
        engine.tell(.items([CacheKey("b")]))
        #expect(await events.next()?.removed == ["b"])
        #expect(store.undecodable.map(\.key) == [CacheKey("b")])

        try await other.insert(Note(id: "b", text: "repaired"))
        engine.tell(.everything)
        #expect(await events.next()?.items.map(\.text) == ["repaired", ""])
        #expect(store.undecodable.isEmpty)
    }
}
