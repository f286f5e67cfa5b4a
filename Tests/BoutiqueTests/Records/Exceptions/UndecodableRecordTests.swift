import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct UndecodableRecordTests {
    let engine = MemoryStorageEngine()
    let garbage = Data("{\"unexpected\": true}".utf8)

    private func store() async throws -> Store<Note> {
        try await Store<Note>(storage: engine).insert(Note(id: "a"))
        try await engine.write(garbage, key: CacheKey("odd"))
        try await engine.write(garbage, key: CacheKey("strange"))
        return try await Store<Note>(storage: engine)
    }

    @Test("Undecodable records can be exported, and removed one by one or all together")
    func exportAndRemoval() async throws {
        let store = try await store()
        let exported = try await store.undecodableData()
        #expect(exported.map(\.key) == [CacheKey("odd"), CacheKey("strange")])
        #expect(exported.map(\.data) == [garbage, garbage])
        try await store.removeUndecodable([CacheKey("odd"), CacheKey("a")])
        #expect(store.undecodable.map(\.key) == [CacheKey("strange")])
        try await store.removeUndecodable()
        #expect(store.undecodable.isEmpty)
        #expect(try await engine.fetchKeys() == [CacheKey("a")])
        #expect(store.items == notes("a"))
    }

    @Test("Removing all items, or an item with the same key, keeps undecodable records")
    func removeAll() async throws {
        let store = try await store()
        try await store.remove(id: "odd")
        try await store.insert(Note(id: "b")).removeAll().insert(Note(id: "c")).run()
        #expect(store.items == notes("c"))
        #expect(store.undecodable.count == 2)
        #expect(Set(try await engine.fetchKeys()) == [CacheKey("odd"), CacheKey("strange"), CacheKey("c")])
    }

    @Test("Removing all items also removes those inserted by operations of the same batch")
    func removeAllInBatch() async throws {
        _ = try await store()
        let gate = StorageGate()
        let slow = FaultInjectingStorageEngine(WithoutLog(engine), faults: [.hold([.apply], .number(1), at: gate)])
        let store = try await Store<Note>(storage: slow)
        let first = Task { try await store.insert(Note(id: "first")) }
        await gate.waitForArrivals(1)
        let second = Task { try await store.insert(Note(id: "second")) }
        let third = Task { try await store.removeAll() }
        await Task.yield()
        gate.release()
        try await first.value
        try await second.value
        try await third.value
        #expect(store.items == [])
        #expect(Set(try await engine.fetchKeys()) == [CacheKey("odd"), CacheKey("strange")])
    }

    @Test("Inserting an item under the key of an undecodable record moves the record to another key")
    func insertion() async throws {
        let store = try await store()
        try await store.insert([Note(id: "odd", text: "new"), Note(id: "odd", text: "newer")])
        #expect(store["odd"]?.text == "newer")
        #expect(store.undecodable.count == 2)
        let moved = try #require(store.undecodable.compactMap(\.key).first { $0 != CacheKey("strange") })
        #expect(try await engine.fetch(key: moved) == garbage)
        try await store.insert(Note(id: "odd", text: "newest"))
        let again = try await Store<Note>(storage: engine)
        #expect(again["odd"]?.text == "newest")
        #expect(Set(again.undecodable.map(\.key)) == [moved, CacheKey("strange")])
    }

    @Test("A failed insertion restores an undecodable record under its key")
    func failedInsertion() async throws {
        _ = try await store()
        for fault in [
            StorageFault.fail(.writes), .tear(afterFirst: 1, .number(1)), .failAfterwards(.writes, .number(1)),
        ] {
            let failing = FaultInjectingStorageEngine(WithoutLog(engine), faults: [])
            let store = try await Store<Note>(storage: failing)
            failing.inject(fault)
            await #expect(throws: StorageError.self) { try await store.insert(Note(id: "odd")) }
            #expect(store.undecodable.map(\.key) == [CacheKey("odd"), CacheKey("strange")])
            #expect(try await engine.fetch(key: CacheKey("odd")) == garbage)
            #expect(try await engine.fetchCount() == 3)
        }
    }

    @Test(
        "Inserting an item over an undecodable file of the first Bodega preserves the file's bytes",
        arguments: [true, false])
    func verbatimFiles(isDecodable: Bool) async throws {
        let folder = TemporaryFolder()
        let data = isDecodable ? try JSONEncoder().encode(Note(id: "a", text: "old")) : garbage
        try data.write(to: folder.file(CacheKey("a").value))
        let disk = try DiskStorageEngine(opening: folder.directory)
        let store = try await Store<Note>(storage: disk)
        #expect(store.items.map(\.text) == (isDecodable ? ["old"] : []))
        try await store.insert(Note(id: "a", text: "new"))
        let again = try await Store<Note>(storage: try DiskStorageEngine(opening: folder.directory))
        #expect(again.items.map(\.text) == ["new"])
        #expect(again.undecodable.count == (isDecodable ? 0 : 1))
        #expect(try await again.undecodableData().map(\.data) == (isDecodable ? [] : [garbage]))
        try await again.remove(id: "a")
        #expect(try await Store<Note>(storage: try DiskStorageEngine(opening: folder.directory)).items == [])
    }
}
