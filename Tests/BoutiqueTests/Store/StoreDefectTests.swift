import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Defects of Boutique, with their numbers in the project's list. Each test fails with Boutique.
@MainActor
@Suite struct StoreDefectTests {

    @Test("Defect 1: operations called concurrently all take effect", arguments: ["memory", "sqlite", "disk"])
    func concurrentInserts(kind: String) async throws {
        let folder = TemporaryFolder()
        let engine = kind == "memory" ? MemoryStorageEngine() : try openEngine(kind, at: folder, .relaxed)
        let store = try await Store<Note>(storage: engine, cacheIdentifier: \.id)
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask { try await store.insert(Note(id: "\(number)")) }
            }
            try await group.waitForAll()
        }
        #expect(Set(try await agreedNotes(store, engine).map(\.id)) == Set((0..<200).map { "\($0)" }))
    }

    @Test("Defect 2: loading does not overwrite items that were inserted while the store loads")
    func insertWhileLoading() async throws {
        let gate = StorageGate()
        let memory = MemoryStorageEngine()
        try await Store<Note>(storage: memory).insert(notes("old"))
        let engine = FaultInjectingStorageEngine(WithoutLog(memory), faults: [.hold([.scan], at: gate)])
        let store = Self.makeStore(engine)
        async let inserted: Void = store.insert(Note(id: "new"))
        await gate.waitForArrivals(1)
        #expect(store.items == [])
        gate.release()
        try await inserted
        #expect(try await agreedNotes(store, memory) == notes("old", "new"))
    }

    @Test("Defect 2: a preview store keeps its items")
    func previewItems() async throws {
        let store = Store<Note>.previewStore(items: notes("a", "b"))
        #expect(store.items == notes("a", "b"))
        try await store.itemsHaveLoaded()
        try await store.insert(Note(id: "c"))
        #expect(store.items == notes("a", "b", "c"))
        try await store.reload()
        #expect(store.items == notes("a", "b", "c"))
    }

    @Test("Defect 3: a record that can't be decoded is reported and does not hide others")
    func undecodableRecord() async throws {
        let engine = MemoryStorageEngine()
        try await Store<Note>(storage: engine).insert(notes("a", "b"))
        try await engine.write(Data("?".utf8), key: CacheKey("odd"))
        let store = Self.makeStore(engine)
        try await store.itemsHaveLoaded()
        #expect(store.items == notes("a", "b"))
        #expect(store.undecodable.map(\.key) == [CacheKey("odd")])
        #expect(store.undecodable.map(\.code) == [.decodingFailed])
        #expect(store.undecodable.first?.cause is DecodingError)
    }

    @Test("Defect 3: a store that was created synchronously reports that loading has failed")
    func failedLoad() async throws {
        let store = Self.makeStore(
            FaultInjectingStorageEngine(WithoutLog(MemoryStorageEngine()), faults: [.fail(.reads)]))
        await #expect(throws: StorageError.self) { try await store.itemsHaveLoaded() }
        #expect(store.state.error is StorageError)
    }

    @Test("Defect 6: items come back in insertion order after a relaunch", arguments: ["sqlite", "disk"])
    func order(kind: String) async throws {
        let folder = TemporaryFolder()
        do {
            let store = try await Store<Note>(storage: openEngine(kind, at: folder))
            try await store.insert(notes("zebra", "ant", "bee"))
            try await store.insert(Note(id: "ant", text: "changed"))
            try await store.insert(Note(id: "aardvark"))
        }
        let store = try await Store<Note>(storage: openEngine(kind, at: folder))
        #expect(store.items.map(\.id) == ["zebra", "ant", "bee", "aardvark"])
    }

    @Test(
        "Defect 9: an item is removed under the key under which it was written", arguments: ["sqlite", "disk"])
    func removeThenInsert(kind: String) async throws {
        let folder = TemporaryFolder()
        do {
            let store = try await Store<Note>(storage: openEngine(kind, at: folder))
            try await store.insert(notes("a", "b"))
            try await store.remove(Note(id: "a")).insert(Note(id: "c")).run()
            #expect(store.items == notes("b", "c"))
        }
        #expect(try await Store<Note>(storage: openEngine(kind, at: folder)).items == notes("b", "c"))
    }

    @Test("Defect 9: items that were written under another key can be read, changed and removed")
    func displacedItems() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(try JSONEncoder().encode(Note(id: "a")), key: CacheKey(verbatim: "elsewhere"))
        try await engine.write(try JSONEncoder().encode(Note(id: "b")), key: CacheKey("b"))
        let store = try await Store<Note>(storage: engine)
        #expect(store.items == notes("a", "b"))
        try await store.insert(Note(id: "a", text: "changed"))
        try await store.reload()
        #expect(store.items.map(\.id).sorted() == ["a", "b"])
        #expect(store["a"]?.text == "changed")
        try await store.remove(Note(id: "a"))
        try await store.reload()
        #expect(try await agreedNotes(store, engine) == notes("b"))
    }

    @Test("Defect 10: a chain that fails in the middle changes nothing")
    func chains() async throws {
        let memory = MemoryStorageEngine()
        let engine = FaultInjectingStorageEngine(WithoutLog(memory))
        let store = try await Store<Note>(storage: engine)
        try await store.insert(notes("a", "b"))
        await #expect(throws: StorageError.self) {
            try await store.removeAll().insert(Note(id: "c")).insert(Note(id: "d", weight: .nan)).run()
        }
        #expect(try await agreedNotes(store, memory) == notes("a", "b"))
        engine.inject(.tear(afterFirst: 2, .number(1)))
        await #expect(throws: StorageError.self) {
            try await store.removeAll().insert(Note(id: "c")).insert(Note(id: "d")).run()
        }
        #expect(try await agreedNotes(store, memory) == notes("a", "b"))
    }

    @Test("Defect 11: an insertion does not copy the other items")
    func costOfChange() async throws {
        let store = try await Store<Note>(storage: MemoryStorageEngine())
        try await store.insert((0..<1_000).map { Note(id: "\($0)") })
        // A changed address means a copy. The array grows at most twice.
        var address = Self.address(of: store.items)
        var moves = 0
        for number in 1_000..<2_000 {
            try await store.insert(Note(id: "\(number)"))
            let now = Self.address(of: store.items)
            if now != address { moves += 1 }
            address = now
        }
        #expect(moves <= 2)
    }

    private static func address(of items: [Note]) -> UnsafeRawPointer? {
        items.withUnsafeBytes { $0.baseAddress }
    }

    /// Creates a store in a synchronous function, so with the synchronous initializer.
    private static func makeStore(_ engine: any StorageEngine) -> Store<Note> {
        Store(storage: engine)
    }
}
