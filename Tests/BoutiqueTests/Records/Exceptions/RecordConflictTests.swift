import Bodega
import BodegaTesting
import Boutique
import Foundation
import Observation
import TestSupport
import Testing

/// Reported records and displaced items that the same operations change several times.
@MainActor
@Suite struct RecordConflictTests {
    let garbage = Data("{\"unexpected\": true}".utf8)

    private func data(_ note: Note) throws -> Data { try JSONEncoder().encode(note) }

    /// Creates a folder of Bodega with an undecodable file of "a", and the item "a" in a file with another name.
    private func folderWithDisplacedItem() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try garbage.write(to: folder.file(CacheKey("a").value))
        try data(Note(id: "a")).write(to: folder.file("copy"))
        return folder
    }

    @Test("Removing an item twice in one operation does not remove an undecodable file with its name")
    func removeTwice() async throws {
        let folder = try folderWithDisplacedItem()
        let store = try await Store<Note>(storage: try DiskStorageEngine(opening: folder.directory))
        #expect(store.items == notes("a"))
        try await store.remove(id: "a").remove(id: "a").run()
        #expect(try await store.undecodableData().map(\.data) == [garbage])
    }

    @Test("Removing all items twice in one operation does not remove an undecodable file")
    func removeAllTwice() async throws {
        let folder = try folderWithDisplacedItem()
        let store = try await Store<Note>(storage: try DiskStorageEngine(opening: folder.directory))
        try await store.removeAll().removeAll().run()
        #expect(try await store.undecodableData().map(\.data) == [garbage])
    }

    @Test("Undoing an insertion and a removal restores an undecodable file", arguments: [false, true])
    func undoInsertAndRemove(isTorn: Bool) async throws {
        let folder = TemporaryFolder()
        try garbage.write(to: folder.file(CacheKey("a").value))
        let disk = try DiskStorageEngine(opening: folder.directory)
        let engine = FaultInjectingStorageEngine(disk)
        let store = try await Store<Note>(storage: engine)
        engine.inject(.failAfterwards(.writes, .number(1)))
        await #expect(throws: StorageError.self) {
            if isTorn {
                // Interrupts the undo between the removal of the new file and the restoration of the old one.
                engine.inject(.tear(afterFirst: 2, .number(2)))
                try await store.insert(Note(id: "a"))
            } else {
                try await store.insert(Note(id: "a")).remove(id: "a").run()
            }
        }
        try await store.insert(Note(id: "b"))
        #expect(try await disk.fetchAllData().contains(garbage))
    }

    @Test("An undecodable record that was copied from a folder of Bodega stays removed")
    func verbatimUndecodable() async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(garbage, key: CacheKey(verbatim: CacheKey("a").value))
        let store = try await Store<Note>(storage: memory)
        try await store.insert(Note(id: "a"))
        #expect(try await memory.fetchCount() == 2)
        try await store.removeUndecodable()
        try await store.reload()
        #expect(store.undecodable.isEmpty)
    }

    @Test("A removed item stays removed if another record also held it", arguments: [true, false])
    func removedDuplicate(isAll: Bool) async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(try data(Note(id: "a", text: "old")), key: CacheKey(verbatim: "copy"))
        try await memory.write(try data(Note(id: "a")), key: CacheKey("a"))
        let store = try await Store<Note>(storage: memory)
        if isAll { try await store.removeAll() } else { try await store.remove(id: "a") }
        let memoryItems = store.items
        try await store.reload()
        #expect(store.items == memoryItems)
    }

    @Test("The store shows the same of several duplicate records after another of them has been moved")
    func movedDuplicate() async throws {
        let memory = MemoryStorageEngine()
        try await Store<Note>(storage: memory, cacheIdentifier: \.id)
            .insert([Note(id: "1", text: "x"), Note(id: "2", text: "x")])
        let store = try await Store<Note>(storage: memory, cacheIdentifier: \.text)
        #expect(store["x"]?.id == "1")
        try await store.insert(Note(id: "3", text: "2"))
        #expect(store["x"]?.id == "1")
        try await store.reload()
        #expect(store["x"]?.id == "1")
    }

    @Test("The store shows the same of several duplicate records if their keys look alike")
    func movedDuplicateOfLikeKey() async throws {
        let memory = MemoryStorageEngine()
        for (text, key) in [("1", CacheKey(verbatim: "a")), ("2", CacheKey("a"))] {
            try await memory.write(try data(Note(id: "copy", text: text)), key: key)
        }
        let store = try await Store<Note>(storage: memory)
        let shown = store["copy"]
        try await store.insert(Note(id: "a"))
        #expect(store["copy"] == shown)
        try await store.reload()
        #expect(store["copy"] == shown)
    }

    @Test("After a failed removal of undecodable records, the store reports the remaining ones", arguments: [1, 2])
    func failedRemoveUndecodable(applied: Int) async throws {
        let memory = MemoryStorageEngine()
        try await memory.write([(CacheKey("x"), garbage), (CacheKey("y"), garbage)])
        let engine = FaultInjectingStorageEngine(WithoutLog(memory))
        let store = try await Store<Note>(storage: engine)
        engine.inject(.tear(afterFirst: applied, .number(1)))
        await #expect(throws: StorageError.self) { try await store.removeUndecodable() }
        _ = try await store.undecodableData()
        let reported = Set(store.undecodable.compactMap(\.key))
        #expect(reported == Set(try await memory.fetchKeys()))
    }

    @Test("An item that can't be encoded does not prevent an undo from restoring others")
    func undoWithUnencodable() async throws {
        let memory = MemoryStorageEngine()
        try await Store<NoteV1>(storage: memory, cacheIdentifier: \.id)
            .insert([NoteV1(id: "a", text: "x"), NoteV1(id: "b", text: "bad"), NoteV1(id: "c", text: "x")])
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) { old in
            Note(id: old.id, text: old.text, weight: old.text == "bad" ? .infinity : 1)
        }
        let engine = FaultInjectingStorageEngine(WithoutLog(memory))
        let store = try await Store<Note>(storage: engine, migration: migration)
        #expect(store.items.count == 3)
        engine.inject(.tear(afterFirst: 1, .number(1)))
        await #expect(throws: StorageError.self) { try await store.removeAll().insert(Note(id: "d")).run() }
        try await store.reload()
        #expect(Set(store.items.map(\.id)).isSuperset(of: ["a", "c"]))
    }

    @Test("A displaced item that can't be encoded survives the undo of a batch that moved it")
    func undoMoveOfUnencodable() async throws {
        let memory = MemoryStorageEngine()
        // A displaced item: the record "r" holds the item "a".
        try await memory.write(try data(Note(id: "a", text: "bad")), key: CacheKey("r"))
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) { old in
            Note(id: old.id, text: old.text, weight: .infinity)
        }
        let engine = FaultInjectingStorageEngine(WithoutLog(memory))
        let store = try await Store<Note>(storage: engine, migration: migration)
        #expect(store.items.map(\.id) == ["a"])
        engine.inject(.tear(afterFirst: 1, .number(1)))
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "r")) }
        try await store.reload()
        #expect(store.items.map(\.id) == ["a"])
    }

    @Test("An item that another store wrote under the former key of a displaced item is not removed")
    func staleDisplaced() async throws {
        let memory = MemoryStorageEngine()
        try await Store<Note>(storage: memory, cacheIdentifier: \.id).insert(Note(id: "r", text: "a"))
        let first = try await Store<Note>(storage: memory, cacheIdentifier: \.text)
        let second = try await Store<Note>(storage: memory, cacheIdentifier: \.text)
        #expect(first.items.map(\.text) == ["a"])
        try await second.insert(Note(id: "new", text: "r"))
        try await first.insert(Note(id: "r", text: "a", count: 1))
        try await first.reload()
        #expect(first.items.map(\.text).sorted() == ["a", "r"])
    }

    @Test("An item written under the key of a displaced item that is gone is not removed with it")
    func vanishedDisplaced() async throws {
        let memory = MemoryStorageEngine()
        try await Store<Note>(storage: memory, cacheIdentifier: \.id).insert(Note(id: "r", text: "a"))
        let store = try await Store<Note>(storage: memory, cacheIdentifier: \.text)
        try await memory.remove(key: CacheKey("r"))
        try await store.insert(Note(id: "new", text: "r"))
        try await store.remove(id: "a")
        #expect(store.items.map(\.text) == ["r"])
        try await store.reload()
        #expect(store.items.map(\.text) == ["r"])
    }

    @Test("An item that another program has written over an undecodable record is shown after it has been moved")
    func movedForeignItem() async throws {
        let memory = MemoryStorageEngine()
        try await memory.write(garbage, key: CacheKey("a"))
        let store = try await Store<Note>(storage: AnyStorageEngine(base: memory))
        try await memory.write(try data(Note(id: "other")), key: CacheKey("a"))
        try await store.insert(Note(id: "a"))
        #expect(try await eventually { Set(store.items.map(\.id)) == ["a", "other"] })
        #expect(store.undecodable.isEmpty)
        let shown = store.items
        try await store.reload()
        #expect(store.items == shown)
    }

    @Test("An event stream that is created while a change is announced has no gap")
    func eventsFromObserver() async throws {
        let store = try await Store<Note>(storage: MemoryStorageEngine())
        let found = Locked<AsyncStream<StoreEvent<Note>>?>(nil)
        withObservationTracking {
            _ = store.items
        } onChange: {
            MainActor.assumeIsolated { found.withLock { $0 = store.events } }
        }
        try await store.insert(Note(id: "a"))
        try await store.insert(Note(id: "b"))
        var items: Set<String> = []
        for await event in try #require(found.withLock { $0 }) {
            if event.operation == .loaded { items = [] }
            items.formUnion(event.items.map(\.id))
            if items.contains("b") { break }
        }
        #expect(items == ["a", "b"])
    }
}
