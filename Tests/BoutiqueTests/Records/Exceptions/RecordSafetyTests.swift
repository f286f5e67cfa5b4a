import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Cases in which an item, a record, or the agreement of store and engine could be lost.
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
        "A failed removal of all items is undone if there are an undecodable file and other files of Bodega",
        arguments: [1, 2, 9])
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

    @Test("A failed write that changed nothing removes nothing")
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

    @Test("A transaction does not see the changes of a failed one before it")
    func failedTransaction() async throws {
        let gate = StorageGate()
        let engine = FaultInjectingStorageEngine(
            MemoryStorageEngine(), faults: [.hold([.apply], .number(2), at: gate)])
        let store = try await Store<Note>(storage: engine)
        try await store.insert(Note(id: "a"))
        let first = Task { try await store.insert(Note(id: "first")) }
        await gate.waitForArrivals(1)
        let failing = Task {
            try await store.transaction { notes in
                try notes.update(id: "a") { $0.count += 100 }
                notes.insert(Note(id: "b", weight: .infinity))
            }
        }
        let next = Task { try await store.update(id: "a") { $0.count += 1 } }
        await Task.yield()
        gate.release()
        try await first.value
        await #expect(throws: StorageError.self) { try await failing.value }
        _ = try await next.value
        #expect(store["a"]?.count == 1)
    }

    @Test(
        "An item whose only record is under the new key of another item is not overwritten", arguments: [true, false])
    func swappedKeys(isRemoval: Bool) async throws {
        let memory = MemoryStorageEngine()
        // The identifier was `id` and is now `text`.
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

    @Test("A removed undecodable record stays removed after an earlier failure")
    func removeUndecodableAfterFailure() async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(garbage, key: CacheKey("odd"))
        let engine = FaultInjectingStorageEngine(WithoutLog(memory))
        let store = try await Store<Note>(storage: engine)
        engine.inject(.failAfterwards(.batches, .number(1)))
        // The first read is that of the record to be moved. The second one, which determines the outcome, fails.
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

    @Test("An item whose own key holds an undecodable record stays removed")
    func displacedItemWithUndecodable() async throws {
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

    /// An engine with only the required methods. A failed write leaves half of the bytes.
    private final class HalfWritingStorageEngine: StorageEngine {
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

    @Test("A failed write that left half of a record is undone", arguments: ["a", "new"])
    func halfWrite(id: String) async throws {
        let engine = HalfWritingStorageEngine()
        let store = try await Store<Note>(storage: engine)
        try await store.insert(Note(id: "a"))
        engine.fails.withLock { $0 = 1 }
        await #expect(throws: CancellationError.self) { try await store.insert(Note(id: id, text: "new")) }
        #expect(store.items == notes("a"))
        try await store.reload()
        #expect(store.items == notes("a"))
        #expect(store.undecodable.isEmpty)
    }

    @Test("An old record that can't be encoded does not prevent others from being rewritten")
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

    @Test("Rewriting old records does not undo later changes of other stores")
    func rewritingAfterOtherStore() async throws {
        let memory = MemoryStorageEngine()
        try await Store<NoteV1>(storage: memory, cacheIdentifier: \.id)
            .insert([NoteV1(id: "a", text: "1"), NoteV1(id: "b", text: "1")])
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) { Note(id: $0.id, text: $0.text) }
        let gate = StorageGate()
        // Holds the rewrite before it checks whether the records have changed since they were read.
        let slow = FaultInjectingStorageEngine(WithoutLog(memory), faults: [.hold([.fetch], .number(1), at: gate)])
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

    /// An engine with only the required methods. When listing keys fails, it can only return an empty list.
    private final class UnlistedStorageEngine: StorageEngine {
        let memory = MemoryStorageEngine()
        let failsToList = Locked(false)
        func write(_ data: Data, key: CacheKey) async throws { try await memory.write(data, key: key) }
        func write(_ items: [(key: CacheKey, data: Data)]) async throws { try await memory.write(items) }
        func read(key: CacheKey) async -> Data? { await memory.read(key: key) }
        func remove(key: CacheKey) async throws { try await memory.remove(key: key) }
        func removeAllData() async throws { try await memory.removeAllData() }
        func keyExists(_ key: CacheKey) async -> Bool { await memory.keyExists(key) }
        func allKeys() async -> [CacheKey] { failsToList.withLock { $0 } ? [] : await memory.allKeys() }
        func createdAt(key: CacheKey) async -> Date? { await memory.createdAt(key: key) }
        func updatedAt(key: CacheKey) async -> Date? { await memory.updatedAt(key: key) }
    }

    @Test("If keys can't be listed, removing all items removes those that the store shows")
    func removeAllWithoutListing() async throws {
        let engine = UnlistedStorageEngine()
        try await engine.write(garbage, key: CacheKey("odd"))
        let store = try await Store<Note>(storage: engine)
        try await store.insert(notes("a", "b"))
        engine.failsToList.withLock { $0 = true }
        try await store.removeAll()
        engine.failsToList.withLock { $0 = false }
        try await store.reload()
        #expect(store.items == [])
    }

    @Test("Items that share an identifier by mistake are reported and stay stored")
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
