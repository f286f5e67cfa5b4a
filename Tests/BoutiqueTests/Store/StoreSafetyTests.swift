import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct StoreSafetyTests {

    @Test("A transaction that reads all items sees those of an earlier transaction of the same batch")
    func enumeratingTransaction() async throws {
        let gate = StorageGate()
        let engine = FaultInjectingStorageEngine(
            MemoryStorageEngine(), faults: [.hold([.apply], .number(1), at: gate)])
        let store = try await Store<Note>(storage: engine)
        let first = Task { try await store.insert(Note(id: "first")) }
        await gate.waitForArrivals(1)
        let second = Task { try await store.transaction { $0.insert(Note(id: "done", count: 1)) } }
        let notesOfFirst = [Note(id: "first")]
        let third = Task {
            try await store.transaction { notes in
                #expect(notes.count == 2 && !notes.isEmpty)
                for note in notes.items where note.count == 1 { notes.remove(note) }
                #expect(notes.items == notesOfFirst)
            }
        }
        await Task.yield()
        gate.release()
        try await first.value
        try await second.value
        try await third.value
        #expect(store.items == notes("first"))
    }

    /// An atomic in-memory engine that accepts only removals when it is full.
    private final class FullDisk: StorageEngine {
        let memory = MemoryStorageEngine()
        let isFull = Locked(false)
        func apply(_ operations: [StorageOperation]) async throws {
            let writes = operations.contains { if case .write = $0 { true } else { false } }
            if writes, isFull.withLock({ $0 }) { throw StorageError(.storageFull, "It is full.") }
            try await memory.apply(operations)
        }
        func write(_ data: Data, key: CacheKey) async throws { try await apply([.write(key: key, data: data)]) }
        func write(_ items: [(key: CacheKey, data: Data)]) async throws {
            try await apply(items.map { .write(key: $0.key, data: $0.data) })
        }
        func read(key: CacheKey) async -> Data? { await memory.read(key: key) }
        func remove(key: CacheKey) async throws { try await memory.remove(key: key) }
        func removeAllData() async throws { try await memory.removeAllData() }
        func keyExists(_ key: CacheKey) async -> Bool { await memory.keyExists(key) }
        func allKeys() async -> [CacheKey] { await memory.allKeys() }
        func createdAt(key: CacheKey) async -> Date? { await memory.createdAt(key: key) }
        func updatedAt(key: CacheKey) async -> Date? { await memory.updatedAt(key: key) }
    }

    @Test("Items can be removed when the disk is full")
    func fullDisk() async throws {
        let engine = FullDisk()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let store = try await Store<Note>(
            storage: engine, coder: JSONObjectCoder(encoder: encoder, decoder: JSONDecoder()))
        try await store.insert(notes("a", "b"))
        engine.isFull.withLock { $0 = true }
        // One of them is stored already.
        await #expect(throws: StorageError.self) { try await store.insert(notes("a", "c")) }
        try await store.remove(id: "b")
        #expect(store.items == notes("a"))
    }

    @Test("The error of a moved undecodable record still has the decoder's error as its cause")
    func movedCause() async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(Data("?".utf8), key: CacheKey("odd"))
        let store = try await Store<Note>(storage: memory)
        try await store.insert(Note(id: "odd"))
        #expect(store.undecodable.first?.cause is DecodingError)
    }

    @Test("Removing undecodable records keeps one that another store has repaired in the meantime")
    func removalOfRepaired() async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(Data("?".utf8), key: CacheKey("a"))
        let store = try await Store<Note>(storage: memory)
        let other = try await Store<Note>(storage: memory)
        try await other.insert(Note(id: "a", text: "acknowledged"))
        try await store.removeUndecodable()
        #expect(try await Store<Note>(storage: memory)["a"]?.text == "acknowledged")
    }

    @Test("An item in a folder of Bodega whose file belongs to the new key of another item is kept")
    func swappedBareFiles() async throws {
        let folder = TemporaryFolder()
        for note in [Note(id: "x", text: "y"), Note(id: "y", text: "z")] {
            try JSONEncoder().encode(note).write(to: folder.file(CacheKey(note.id).value))
        }
        let disk = try DiskStorageEngine(opening: folder.directory)
        let store = try await Store<Note>(storage: disk, cacheIdentifier: \.text)
        #expect(store.count == 2)
        try await store.insert(Note(id: "x", text: "y", count: 1))
        let before = Set(store.items.map(\.text))
        try await store.reload()
        #expect(Set(store.items.map(\.text)) == before)
    }

    @Test("A failed removal of all items that changed nothing does not write a second record of an item")
    func undoRemoveAllInStore() async throws {
        // The item is displaced: its record is not under its own key.
        let memory = MemoryStorageEngine()
        try await memory.write(try JSONEncoder().encode(Note(id: "a")), key: CacheKey("elsewhere"))
        let engine = FaultInjectingStorageEngine(WithoutLog(memory))
        let store = try await Store<Note>(storage: engine)
        engine.inject(.fail(.writes, .number(1)))
        await #expect(throws: StorageError.self) { try await store.removeAll() }
        #expect(await memory.keyCount() == 1)
    }
}
