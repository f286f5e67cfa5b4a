import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct StoreFailureTests {
    let memory = MemoryStorageEngine()
    let engine: FaultInjectingStorageEngine

    init() {
        engine = FaultInjectingStorageEngine(WithoutLog(memory))
    }

    private func store(_ ids: String...) async throws -> Store<Note> {
        let store = try await Store<Note>(storage: engine)
        try await store.insert(ids.map { Note(id: $0) })
        return store
    }

    private static func syncStore(_ engine: any StorageEngine) -> Store<Note> {
        Store(storage: engine)
    }

    // MARK: Loading

    @Test("A store that could not be loaded refuses all writes until a reload succeeds")
    func failedLoad() async throws {
        try await Store<Note>(storage: memory).insert(notes("a", "b"))
        engine.inject(.fail(.reads, with: StorageError(.locked, "Another process has locked it.")))
        let store = Self.syncStore(engine)
        await #expect(throws: StorageError.self) { try await store.itemsHaveLoaded() }
        #expect((store.state.error as? StorageError)?.code == .locked)
        for write in [
            { try await store.insert(Note(id: "a", text: "lost")) },
            { try await store.removeAll() },
            { try await store.removeAll().add(Note(id: "c")).run() },
            { try await store.update(id: "a") { $0.text = "lost" } },
            { try await store.removeUndecodable() },
        ] as [@MainActor () async throws -> Void] {
            let error = await #expect(throws: StorageError.self) { try await write() }
            #expect(error?.code == .storeNotLoaded)
            #expect((error?.cause as? StorageError)?.code == .locked)
        }
        #expect(try await storedNotes(in: memory) == notes("a", "b"))
        await #expect(throws: StorageError.self) { try await store.reload() }
        engine.clearFaults()
        try await store.reload()
        #expect(store.state.isLoaded)
        try await store.insert(Note(id: "c"))
        #expect(try await agreedNotes(store, memory) == notes("a", "b", "c"))
    }

    @Test("The asynchronous initializer throws the engine's error")
    func failedInitializer() async throws {
        engine.inject(.fail(.reads, with: StorageError(.damaged, "It is damaged.")))
        let error = await #expect(throws: StorageError.self) { try await Store<Note>(storage: engine) }
        #expect(error?.code == .damaged)
    }

    @Test("A loaded store whose reload fails keeps its items")
    func failedReload() async throws {
        let store = try await store("a")
        engine.inject(.fail([.scan], .number(1)))
        await #expect(throws: StorageError.self) { try await store.reload() }
        #expect(store.state.isLoaded)
        try await store.insert(Note(id: "b"))
        #expect(try await agreedNotes(store, memory) == notes("a", "b"))
    }

    @Test("A reload shows the changes of another store")
    func reload() async throws {
        let store = try await store("a", "b")
        let other = try await Store<Note>(storage: memory)
        try await other.remove(id: "a").insert(Note(id: "c")).run()
        try await store.reload()
        #expect(store.items == notes("b", "c"))
    }

    // MARK: Writing

    @Test(
        "A write that fails changes neither memory nor engine, however much of it was applied",
        arguments: [
            StorageFault.fail(.writes, .number(1)), .tear(.batches, afterFirst: 1, .number(1)),
            .tear(.batches, afterFirst: 2, .number(1)), .failAfterwards(.writes, .number(1)),
        ]
    )
    func failedWrite(fault: StorageFault) async throws {
        for write in [
            { try await $0.insert(notes("b", "x", "y")) },
            { try await $0.remove(notes("a", "c")) },
            { try await $0.removeAll() },
            { try await $0.removeAll().add(notes("b", "x")).run() },
            { try await $0.remove(Note(id: "a")).insert(Note(id: "a", text: "new")).insert(Note(id: "x")).run() },
            { try await $0.update(id: "b") { $0.text = "new" } },
        ] as [@MainActor (Store<Note>) async throws -> Void] {
            try await memory.removeAllData()
            engine.clearFaults()
            let store = try await store("a", "b", "c")
            engine.inject(fault)
            await #expect(throws: StorageError.self) { try await write(store) }
            #expect(store.items == notes("a", "b", "c"))
            let stored = try await storedNotes(in: memory)
            #expect(stored.sorted { $0.id < $1.id } == notes("a", "b", "c"))
            try await store.insert(Note(id: "d"))
            try await store.reload()
            #expect(Set(store.items.map(\.id)) == ["a", "b", "c", "d"])
        }
    }

    @Test("A write that can't be undone immediately is undone before the next write")
    func failureThatLasts() async throws {
        let store = try await store("a", "b")
        engine.inject(.failAfterwards(.writes, .number(1)))
        engine.inject(.fail(.reads))
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "a", text: "new")) }
        #expect(store.items == notes("a", "b"))
        #expect(try await storedNotes(in: memory).first?.text == "new")
        engine.clearFaults()
        try await store.insert(Note(id: "c"))
        #expect(try await agreedNotes(store, memory) == notes("a", "b", "c"))
    }

    @Test("While it is not known whether a write was applied, nothing else is written")
    func failureThatStays() async throws {
        let store = try await store("a")
        engine.inject(.failAfterwards([.apply], .number(1)))
        engine.inject(.fail(.reads))
        await #expect(throws: StorageError.self) { try await store.removeAll() }
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "b")) }
        #expect(store.items == notes("a"))
        #expect(await memory.keyCount() == 0)
        engine.clearFaults()
        try await store.insert(Note(id: "b"))
        #expect(try await agreedNotes(store, memory) == notes("a", "b"))
    }

    @Test("If a shared batch fails, only the operation that causes the failure fails")
    func blame() async throws {
        let gate = StorageGate()
        engine.inject(.hold([.apply], .number(1), at: gate))
        // The shared batch fails. Then each operation is tried in a batch of its own, and the second one fails.
        engine.inject(.fail([.apply], .number(2)))
        engine.inject(.fail([.apply], .number(4)))
        let store = try await store()
        let first = Task { try await store.insert(Note(id: "first")) }
        await gate.waitForArrivals(1)
        let tasks = ["a", "b", "c"].map { id in Task { try await store.insert(Note(id: id)) } }
        let unencodable = Task { try await store.insert(Note(id: "d", weight: .infinity)) }
        let updates = Task { try await store.update(id: "a") { $0.count += 1 } }
        await Task.yield()
        gate.release()
        try await first.value
        try await tasks[0].value
        await #expect(throws: StorageError.self) { try await tasks[1].value }
        try await tasks[2].value
        let error = await #expect(throws: StorageError.self) { try await unencodable.value }
        #expect(error?.code == .encodingFailed && error?.key == CacheKey("d"))
        #expect(try await updates.value?.count == 1)
        #expect(try await agreedNotes(store, memory).map(\.id) == ["first", "a", "c"])
    }

    @Test("If the engine is locked, all waiting operations fail immediately")
    func locked() async throws {
        let gate = StorageGate()
        engine.inject(.hold([.apply], .number(1), at: gate))
        engine.inject(.fail([.apply], .number(2), with: StorageError(.locked, "Another process has locked it.")))
        let store = try await store()
        let first = Task { try await store.insert(Note(id: "first")) }
        await gate.waitForArrivals(1)
        let tasks = ["a", "b"].map { id in Task { try await store.insert(Note(id: id)) } }
        await Task.yield()
        gate.release()
        try await first.value
        for task in tasks {
            let error = await #expect(throws: StorageError.self) { try await task.value }
            #expect(error?.code == .locked)
        }
        try await store.insert(Note(id: "c"))
        #expect(try await agreedNotes(store, memory) == notes("first", "c"))
    }

    @Test("A full disk loses no items, and writes succeed again when there is space")
    func fullDisk() async throws {
        let store = try await store("a")
        engine.inject(.fail(.writes, .number(1), with: StorageError(.storageFull, "It is full.")))
        let error = await #expect(throws: StorageError.self) { try await store.insert(Note(id: "b")) }
        #expect(error?.code == .storageFull)
        try await store.insert(Note(id: "b"))
        #expect(try await agreedNotes(store, memory) == notes("a", "b"))
    }
}
