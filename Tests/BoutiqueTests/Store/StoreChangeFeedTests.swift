import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// Stores that follow the changes of other origins in their engine.
@MainActor
@Suite struct StoreChangeFeedTests {

    private let locked = StorageError(.locked, "Another process has locked it.")

    private func unloaded(_ engine: any StorageEngine) -> Store<Note> { Store(storage: engine) }

    @Test("A store follows foreign changes item by item")
    func following() async throws {
        let engine = MemoryStorageEngine()
        let other = try await Store<Note>(storage: engine)
        try await other.insert(notes("a", "b"))
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)

        try await other.remove(id: "a").insert(notes("c", "b")).run()
        #expect(await events.next()?.removedIDs == ["a"])
        let insertion = await events.next()
        #expect(insertion?.insertedIDs == ["c"] && insertion?.updatedIDs == ["b"])
        #expect(store.items == notes("b", "c"))

        try await engine.write(Data("?".utf8), key: CacheKey("b"))
        #expect(await events.next()?.removedIDs == ["b"])
        #expect(store.undecodable.map(\.key) == [CacheKey("b")])

        try await engine.write(JSONEncoder().encode(Note(id: "b", text: "repaired")), key: CacheKey("b"))
        #expect(await events.next()?.insertedIDs == ["b"])
        #expect(store.undecodable.isEmpty)
        #expect(store["b"]?.text == "repaired")
    }

    @Test("A foreign item that was inserted before an own one is shown before it, and each is reported once")
    func order() async throws {
        let engine = MemoryStorageEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        for round in 0..<20 {
            // The first is not shown before the second is written: both happen without leaving the main actor.
            let (other, own) = ("other \(round)", "own \(round)")
            try await engine.write(JSONEncoder().encode(Note(id: other)), key: CacheKey(other))
            try await store.insert(Note(id: own))
            var inserted: [String] = []
            while inserted.count < 2 { inserted += try #require(await events.next()).insertedIDs }
            #expect(inserted == [other, own])
            _ = try await agreedNotes(store, engine)
        }
    }

    @Test("A foreign removal and reinsertion of an item is reported as both, and moves the item to the end")
    func reinsertion() async throws {
        let engine = MemoryStorageEngine()
        let store = try await Store<Note>(storage: engine)
        try await store.insert(notes("a", "b", "c"))
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        let data = try JSONEncoder().encode(Note(id: "a", text: "again"))
        try await engine.apply([
            .remove(key: CacheKey("a")), .write(key: CacheKey("a"), data: data),
            .write(key: CacheKey("brief"), data: data), .remove(key: CacheKey("brief")),
        ])
        #expect(await events.next()?.removedIDs == ["a"])
        #expect(await events.next()?.insertedIDs == ["a"])
        #expect(store.items.map(\.id) == ["b", "c", "a"])
    }

    @Test("If the log does not reach back to the store's cursor, the store reads all records")
    func longLog() async throws {
        let engine = MemoryStorageEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        let data = try JSONEncoder().encode(Note(id: "a"))
        try await engine.write([(CacheKey, Data)](repeating: (CacheKey("a"), data), count: MemoryHistory.limit + 1))
        let event = await events.next()
        #expect(event?.operation == .loaded && event?.items == notes("a"))
    }

    @Test("Changes that could not be read are shown by a retry")
    func failures() async throws {
        let engine = SharedEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        engine.logFailures.withLock { $0 = [locked, locked] }
        engine.faulty.inject(.fail(.reads, .number(1), with: locked))
        try await engine.memory.write(JSONEncoder().encode(Note(id: "a")), key: CacheKey("a"))
        #expect(await events.next()?.insertedIDs == ["a"])
    }

    @Test("A version is reported once, even if newer versions are written while it is read", arguments: [1, 15, 16])
    func writesDuringReading(count: Int) async throws {
        let engine = SharedEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        let write = { @Sendable (text: String) in
            try await engine.memory.write(JSONEncoder().encode(Note(id: "a", text: text)), key: CacheKey("a"))
        }
        engine.beforeReading.withLock { $0 = (1...count).map { number in { try await write("\(number)") } } }
        try await write("0")
        var reported: [String] = []
        while reported.last != "\(count)" {
            let event = try #require(await events.next())
            reported += event.items.filter { $0.id == "a" }.map(\.text)
        }
        try await engine.memory.write(JSONEncoder().encode(Note(id: "end")), key: CacheKey("end"))
        while let event = await events.next(), !event.insertedIDs.contains("end") {
            reported += event.items.map(\.text)
        }
        #expect(Set(reported).count == reported.count, "\(reported)")
    }

    @Test("Own changes are shown even if foreign ones can't be read, which follow later")
    func failureAfterWriting() async throws {
        let engine = SharedEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        for round in 0..<10 {
            engine.logFailures.withLock { $0 = [locked, locked] }
            try await engine.memory.write(
                JSONEncoder().encode(Note(id: "other \(round)")), key: CacheKey("other \(round)"))
            try await store.insert(Note(id: "own \(round)"))
            #expect(store.contains(id: "own \(round)"))
            while !store.contains(id: "other \(round)") { _ = await events.next() }
            _ = try await agreedNotes(store, engine)
        }
    }

    @Test("A store whose engine can't create a log is loaded, and follows as soon as there is one")
    func lateLog() async throws {
        let engine = SharedEngine()
        let readOnly = StorageError(.readOnly, "There is no log.")
        // For loading, and for the initial signal.
        engine.logFailures.withLock { $0 = [readOnly, readOnly] }
        try await engine.memory.write(JSONEncoder().encode(Note(id: "a")), key: CacheKey("a"))
        let store = try await Store<Note>(storage: engine)
        #expect(store.items == notes("a"))
        try await store.insert(Note(id: "own"))
        var events = store.events.makeAsyncIterator()
        try await engine.memory.write(JSONEncoder().encode(Note(id: "b")), key: CacheKey("b"))
        while store.count < 3 { _ = await events.next() }
        try await engine.memory.remove(key: CacheKey("a"))
        while let event = await events.next(), event.removedIDs != ["a"] {}
        #expect(store.items == notes("own", "b"))
    }

    @Test("A store that has failed to load stays in that state after foreign changes")
    func failedStore() async throws {
        let engine = SharedEngine()
        engine.logFailures.withLock { $0 = [locked] }
        engine.faulty.inject(.fail(.reads, .number(1), with: locked))
        let store = unloaded(engine)
        await #expect(throws: StorageError.self) { try await store.itemsHaveLoaded() }
        try await engine.memory.write(JSONEncoder().encode(Note(id: "a")), key: CacheKey("a"))
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "b")) }
        #expect(!store.state.isLoaded)
        try await store.reload()
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.items == notes("a"))
        try await engine.memory.write(JSONEncoder().encode(Note(id: "c")), key: CacheKey("c"))
        #expect(await events.next()?.insertedIDs == ["c"])
    }

    @Test("Following an engine keeps neither the store nor the engine alive")
    func release() async throws {
        weak var engine: MemoryStorageEngine?
        weak var model: StoreModel<Note>?
        do {
            let memory = MemoryStorageEngine()
            let store = try await Store<Note>(storage: memory)
            (engine, model) = (memory, store.model)
            try await store.insert(Note(id: "a"))
            try await memory.remove(key: CacheKey("a"))
            var events = store.events.makeAsyncIterator()
            while let event = await events.next(), event.removedIDs != ["a"] {}
        }
        while engine != nil || model != nil { await Task.yield() }
    }

    // MARK: Concurrent foreign changes

    private func write(_ note: Note, to engine: some StorageEngine) async throws {
        try await engine.apply([.write(key: CacheKey(note.id), data: JSONEncoder().encode(note))])
    }

    @Test("An own version is reported once, followed by a foreign version that has replaced it")
    func versions() async throws {
        let engine = SharedEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        for round in 0..<60 {
            // In turn: a new item, an item that is shown already, and one that is then changed by another origin.
            let (id, isChangedAfter) = ("item \(round / 3)", round % 3 == 2)
            try await write(Note(id: id, text: "foreign"), to: engine.memory)
            try await write(Note(id: "next \(round)"), to: engine.memory)
            if isChangedAfter {
                engine.afterWriting.plan { [self, memory = engine.memory] in
                    try await write(Note(id: id, text: "last \(round)"), to: memory)
                }
            }
            try await store.insert(Note(id: id, text: "own \(round)"))
            let expected = ["own \(round)"] + (isChangedAfter ? ["last \(round)"] : [])
            var reported: [String] = []
            while reported.last != expected.last {
                reported += try #require(await events.next()).items.filter { $0.id == id }.map(\.text)
            }
            // The foreign version may have been shown before the own one was written.
            #expect(reported.filter { $0 != "foreign" } == expected)
            #expect(reported.count(where: { $0 == "foreign" }) <= 1)
            _ = try await agreedNotes(store, engine)
        }
    }

    @Test("A record that can't be decoded does not prevent foreign changes from being reported one by one")
    func reportedRecord() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(Data("?".utf8), key: CacheKey("damaged"))
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        for round in 0..<20 {
            let (other, own) = ("other \(round)", "own \(round)")
            try await write(Note(id: other), to: engine)
            try await store.insert(Note(id: own))
            var inserted: [String] = []
            while inserted.count < 2 { inserted += try #require(await events.next()).insertedIDs }
            #expect(inserted == [other, own])
        }
        #expect(store.undecodable.map(\.key) == [CacheKey("damaged")])
    }

    // MARK: Failures and foreign changes

    @Test("A failed write does not undo concurrent foreign changes")
    func failureWithForeignChanges() async throws {
        for write in [
            { try await $0.insert(Note(id: "b", text: "own")) },
            { try await $0.remove(Note(id: "b")) },
            { try await $0.removeAll() },
            { try await $0.removeAll().insert(notes("a", "b", "c")).run() },
        ] as [@MainActor (Store<Note>) async throws -> Void] {
            let engine = SharedEngine()
            try await engine.memory.write(
                notes("a", "b", "c").map { (CacheKey($0.id), try JSONEncoder().encode($0)) })
            let store = try await Store<Note>(storage: engine)
            engine.faulty.inject(.fail([.apply], .number(1), with: locked))
            let newer = Data("a newer format".utf8)
            // A foreign change before the write fails, which the store has not seen.
            engine.beforeWriting.plan { [memory = engine.memory] in
                try await memory.apply([.remove(key: CacheKey("b")), .write(key: CacheKey("c"), data: newer)])
            }
            await #expect(throws: StorageError.self) { try await write(store) }
            #expect(await engine.memory.read(key: CacheKey("b")) == nil)
            #expect(await engine.memory.read(key: CacheKey("c")) == newer)
            try await store.reload()
            #expect(store.items == notes("a"))
        }
    }

    @Test("A failed write that was applied completely is shown, and overwrites no later foreign change")
    func appliedFailure() async throws {
        let engine = SharedEngine()
        try await engine.memory.write(
            notes("a", "b", "c").map { (CacheKey($0.id), try JSONEncoder().encode($0)) })
        let store = try await Store<Note>(storage: engine)
        engine.faulty.inject(.failAfterwards([.apply], .number(1), with: locked))
        engine.afterWriting.plan { [self, memory = engine.memory] in
            try await write(Note(id: "b", text: "foreign"), to: memory)
        }
        await #expect(throws: StorageError.self) {
            try await store.removeAll().insert(Note(id: "b", text: "own")).insert(Note(id: "x")).run()
        }
        try await store.reload()
        #expect(Set(store.items.map(\.id)) == ["b", "x"])
        #expect(store["b"]?.text == "foreign")
    }

    @Test("A failed write that was applied is not undone")
    func appliedFailureAfterForeignChange() async throws {
        let engine = SharedEngine()
        try await engine.memory.write(notes("a", "b").map { (CacheKey($0.id), try JSONEncoder().encode($0)) })
        let store = try await Store<Note>(storage: engine)
        engine.faulty.inject(.failAfterwards([.apply], .number(1), with: locked))
        // A foreign change that the store has not seen when it writes.
        engine.beforeWriting.plan { [self, memory = engine.memory] in
            try await write(Note(id: "b", text: "foreign"), to: memory)
        }
        await #expect(throws: StorageError.self) {
            try await store.insert([Note(id: "a", text: "own"), Note(id: "b", text: "own")])
        }
        try await store.reload()
        #expect(store.items.map(\.text) == ["own", "own"])
    }
}
