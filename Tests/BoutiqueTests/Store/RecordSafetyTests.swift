import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Ways to lose an item, a record, or the agreement of memory and engine.
@MainActor
@Suite struct RecordSafetyTests {
    let garbage = Data("{\"unexpected\": true}".utf8)

    private func data(_ note: Note) throws -> Data { try JSONEncoder().encode(note) }

    @Test("Removing an item does not remove an undecodable file of Bodega with its identifier")
    func removeBareUndecodable() async throws {
        let folder = TemporaryFolder()
        try garbage.write(to: folder.file(CacheKey("a").value))
        let store = try await Store<Note>(storage: try DiskStorageEngine(opening: folder.directory))
        #expect(store.undecodable.count == 1)
        try await store.remove(id: "a")
        #expect(try await store.undecodableData().map(\.data) == [garbage])
    }

    @Test("Undoing a torn insertion does not remove an undecodable file of Bodega", arguments: [1, 2, 3])
    func undoBareUndecodable(applied: Int) async throws {
        let folder = TemporaryFolder()
        try garbage.write(to: folder.file(CacheKey("a").value))
        let disk = try DiskStorageEngine(opening: folder.directory)
        let engine = FaultInjectingStorageEngine(disk)
        let store = try await Store<Note>(storage: engine)
        engine.inject(.tear(.batches, afterFirst: applied, .number(1)))
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "a")) }
        #expect(try await disk.fetchAllData() == [garbage])
    }

    private func bareFolder() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try data(Note(id: "a")).write(to: folder.file(CacheKey("a").value))
        try data(Note(id: "b")).write(to: folder.file(CacheKey("b").value))
        try garbage.write(to: folder.file(CacheKey("odd").value))
        return folder
    }

    @Test(
        "A removal of all that fails is undone for files of Bodega beside an undecodable one", arguments: [1, 2, 9])
    func undoRemoveAllBare(applied: Int) async throws {
        let folder = try bareFolder()
        let disk = try DiskStorageEngine(opening: folder.directory)
        let engine = FaultInjectingStorageEngine(disk)
        let store = try await Store<Note>(storage: engine)
        engine.inject(.tear(.batches, afterFirst: applied, .number(1)))
        await #expect(throws: StorageError.self) { try await store.removeAll() }
        let memory = store.items.map(\.id).sorted()
        #expect(memory == ["a", "b"])
        try await store.reload()
        #expect(memory == store.items.map(\.id).sorted())
        _ = folder
    }

    @Test("A failure that changed nothing removes nothing")
    func undoRemovesItems() async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let folder = TemporaryFolder()
        for id in ["a", "b"] {
            try encoder.encode(Note(id: id)).write(to: folder.file(CacheKey(id).value))
        }
        try garbage.write(to: folder.file(CacheKey("odd").value))
        let disk = try DiskStorageEngine(opening: folder.directory)
        let engine = FaultInjectingStorageEngine(disk)
        let coder = JSONObjectCoder(encoder: encoder, decoder: JSONDecoder())
        let store = try await Store<Note>(storage: engine, coder: coder)
        engine.inject(.fail(.writes, .number(1)))
        await #expect(throws: StorageError.self) {
            try await store.removeAll().add(Note(id: "a")).run()
        }
        let memory = store.items.map(\.id).sorted()
        try await store.reload()
        #expect(memory == store.items.map(\.id).sorted())
    }

    @Test("What a transaction that failed has changed is not seen by the next")
    func failedTransactionLeaks() async throws {
        let gate = StorageGate()
        let engine = FaultInjectingStorageEngine(
            MemoryStorageEngine(), faults: [.hold([.apply], .number(2), at: gate)])
        let store = try await Store<Note>(storage: engine)
        try await store.insert(Note(id: "a"))
        let first = Task { try await store.insert(Note(id: "first")) }
        await gate.waitForArrivals(1)
        let failing = Task {
            try await store.transaction { notes in
                try notes.update("a") { $0.count += 100 }
                notes.insert(Note(id: "b", weight: .infinity))
            }
        }
        let next = Task { try await store.update("a") { $0.count += 1 } }
        await Task.yield()
        gate.release()
        try await first.value
        await #expect(throws: StorageError.self) { try await failing.value }
        _ = try await next.value
        #expect(store["a"]?.count == 1)
    }

    @Test("An item whose only record is under another's new key is not overwritten", arguments: [true, false])
    func swappedKeys(isRemoval: Bool) async throws {
        let memory = MemoryStorageEngine()
        // The identifier was `id` and is `text` now.
        try await Store<Note>(storage: memory, cacheIdentifier: \.id)
            .insert([Note(id: "x", text: "y"), Note(id: "y", text: "z")])
        let store = try await Store<Note>(storage: memory, cacheIdentifier: \.text)
        #expect(store.items.map(\.text) == ["y", "z"])
        if isRemoval {
            try await store.remove(id: "y")
        } else {
            try await store.insert(Note(id: "x", text: "y", count: 1))
        }
        let before = store.items.map(\.text).sorted()
        try await store.reload()
        #expect(store.items.map(\.text).sorted() == before)
    }

    @Test("A removed item stays removed when its record was copied from a folder of Bodega")
    func copiedVerbatim() async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(try data(Note(id: "a")), key: CacheKey(verbatim: CacheKey("a").value))
        let store = try await Store<Note>(storage: memory)
        try await store.insert(Note(id: "a", text: "new"))
        try await store.remove(id: "a")
        try await store.reload()
        #expect(store.items == [])
    }

    @Test("An undecodable record that was removed stays removed after a failure before")
    func removeUndecodableInDoubt() async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(garbage, key: CacheKey("odd"))
        let engine = FaultInjectingStorageEngine(memory)
        let store = try await Store<Note>(storage: engine)
        engine.inject(.failAfterwards(.batches, .number(1)))
        // The record is read once to move it, and then the outcome can't be found out.
        engine.inject(.fail(.reads, .number(2)))
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "odd")) }
        #expect(try await store.undecodableData().map(\.data) == [garbage])
        try await store.removeUndecodable()
        #expect(store.undecodable.isEmpty)
        try await store.insert(Note(id: "b"))
        try await store.reload()
        #expect(store.undecodable.isEmpty)
        #expect(store.items == notes("b"))
    }

    @Test("An item whose own key holds an undecodable record is removed for good")
    func strayBesideUndecodable() async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(try data(Note(id: "a")), key: CacheKey("elsewhere"))
        try await memory.write(garbage, key: CacheKey("a"))
        let store = try await Store<Note>(storage: memory)
        #expect(store.items == notes("a"))
        try await store.remove(id: "a")
        #expect(store.items == [])
        try await store.reload()
        #expect(store.items == [])
        #expect(store.undecodable.count == 1)
    }

    /// Only the required members; a failing write leaves half of the bytes.
    private final class HalfWriting: StorageEngine {
        let memory = MemoryStorageEngine()
        let fails = Locked(0)
        func isFailing() -> Bool {
            fails.withLock {
                $0 -= 1
                return $0 >= 0
            }
        }
        func write(_ data: Data, key: CacheKey) async throws {
            if isFailing() {
                try await memory.write(Data(data.prefix(data.count / 2)), key: key)
                throw CancellationError()
            }
            try await memory.write(data, key: key)
        }
        func write(_ items: [(key: CacheKey, data: Data)]) async throws {
            for (key, data) in items { try await write(data, key: key) }
        }
        func read(key: CacheKey) async -> Data? { await memory.read(key: key) }
        func remove(key: CacheKey) async throws { try await memory.remove(key: key) }
        func removeAllData() async throws { try await memory.removeAllData() }
        func keyExists(_ key: CacheKey) async -> Bool { await memory.keyExists(key) }
        func allKeys() async -> [CacheKey] { await memory.allKeys() }
        func createdAt(key: CacheKey) async -> Date? { await memory.createdAt(key: key) }
        func updatedAt(key: CacheKey) async -> Date? { await memory.updatedAt(key: key) }
    }

    @Test("A write that left half a record is undone", arguments: ["a", "new"])
    func halfWrite(id: String) async throws {
        let engine = HalfWriting()
        let store = try await Store<Note>(storage: engine)
        try await store.insert(Note(id: "a"))
        engine.fails.withLock { $0 = 1 }
        await #expect(throws: CancellationError.self) { try await store.insert(Note(id: id, text: "new")) }
        #expect(store.items == notes("a"))
        try await store.reload()
        #expect(store.items == notes("a"))
        #expect(store.undecodable.isEmpty)
    }

    @Test("One old record that cannot be encoded does not keep the others from being rewritten")
    func rewritingBlocked() async throws {
        let memory = MemoryStorageEngine()
        try await Store<NoteV1>(storage: memory, cacheIdentifier: \.id)
            .insert([NoteV1(id: "a", text: "bad"), NoteV1(id: "b", text: "x")])
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) { old in
            Note(id: old.id, text: old.text, weight: old.text == "bad" ? .infinity : 1)
        }
        _ = try await Store<Note>(storage: memory, migration: migration)
        let again = RecordingStorageEngine(memory)
        _ = try await Store<Note>(storage: again, migration: migration)
        let stored = try #require(try await memory.fetch(key: CacheKey("b")))
        #expect(String(decoding: stored, as: UTF8.self).contains("$version"))
    }

    @Test("Rewriting old records does not take back what others have written since")
    func rewritingTakesBack() async throws {
        let memory = MemoryStorageEngine()
        try await Store<NoteV1>(storage: memory, cacheIdentifier: \.id)
            .insert([NoteV1(id: "a", text: "1"), NoteV1(id: "b", text: "1")])
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) { Note(id: $0.id, text: $0.text) }
        let gate = StorageGate()
        // The gate holds the rewriting before it looks whether the records are still what was read.
        let slow = FaultInjectingStorageEngine(memory, faults: [.hold([.fetchItems], .number(1), at: gate)])
        let opening = Task { try await Store<Note>(storage: slow, migration: migration) }
        await gate.waitForArrivals(1)
        let other = try await Store<Note>(storage: memory, migration: migration)
        try await other.insert(Note(id: "a", text: "acknowledged"))
        try await other.remove(id: "b")
        gate.release()
        _ = try await opening.value
        let third = try await Store<Note>(storage: memory, migration: migration)
        #expect(third.items == [Note(id: "a", text: "acknowledged")])
    }

    /// Only the required members; listing keys fails at times, which such engines can only show as emptiness.
    private final class Forgetful: StorageEngine {
        let memory = MemoryStorageEngine()
        let isForgetful = Locked(false)
        func write(_ data: Data, key: CacheKey) async throws { try await memory.write(data, key: key) }
        func write(_ items: [(key: CacheKey, data: Data)]) async throws { try await memory.write(items) }
        func read(key: CacheKey) async -> Data? { await memory.read(key: key) }
        func remove(key: CacheKey) async throws { try await memory.remove(key: key) }
        func removeAllData() async throws { try await memory.removeAllData() }
        func keyExists(_ key: CacheKey) async -> Bool { await memory.keyExists(key) }
        func allKeys() async -> [CacheKey] { isForgetful.withLock { $0 } ? [] : await memory.allKeys() }
        func createdAt(key: CacheKey) async -> Date? { await memory.createdAt(key: key) }
        func updatedAt(key: CacheKey) async -> Date? { await memory.updatedAt(key: key) }
    }

    @Test("Removing all items beside an undecodable record removes those that are known")
    func removeAllOfForgetful() async throws {
        let engine = Forgetful()
        try await engine.write(garbage, key: CacheKey("odd"))
        let store = try await Store<Note>(storage: engine)
        try await store.insert(notes("a", "b"))
        engine.isForgetful.withLock { $0 = true }
        try await store.removeAll()
        engine.isForgetful.withLock { $0 = false }
        try await store.reload()
        #expect(store.items == [])
    }

    @Test("Items that share an identifier by mistake are reported and stay")
    func collidingIdentifiers() async throws {
        let memory = MemoryStorageEngine()
        try await Store<Note>(storage: memory, cacheIdentifier: \.id)
            .insert([Note(id: "1", text: "x"), Note(id: "2", text: "x"), Note(id: "3", text: "x")])
        let store = try await Store<Note>(storage: memory, cacheIdentifier: \.text)
        #expect(store.items.map(\.id) == ["1"])
        #expect(store.undecodable.map(\.key) == [CacheKey("2"), CacheKey("3")])
        #expect(store.undecodable.allSatisfy { $0.code == .duplicateRecord })
        try await store.insert(Note(id: "4", text: "x"))
        #expect(try await memory.fetchKeys() == ["2", "3", "x"].map { CacheKey($0) })
        try await store.removeUndecodable()
        #expect(try await storedNotes(in: memory) == [Note(id: "4", text: "x")])
    }
}
