import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// Stores that follow what others change in their engine.
@MainActor
@Suite(.timeLimit(.minutes(30))) struct StoreChangeFeedTests {

    private let locked = StorageError(.locked, "Somebody else has it.")

    private func unloaded(_ engine: any StorageEngine) -> Store<Note> { Store(storage: engine) }

    @Test("A store follows what others change, item by item")
    func following() async throws {
        let engine = MemoryStorageEngine()
        let other = try await Store<Note>(storage: engine)
        try await other.insert(notes("a", "b"))
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)

        try await other.remove(id: "a").insert(notes("c", "b")).run()
        #expect(await events.next()?.removed == ["a"])
        let insertion = await events.next()
        #expect(insertion?.inserted == ["c"] && insertion?.updated == ["b"])
        #expect(store.items == notes("b", "c"))

        try await engine.write(Data("?".utf8), key: CacheKey("b"))
        #expect(await events.next()?.removed == ["b"])
        #expect(store.undecodable.map(\.key) == [CacheKey("b")])

        try await engine.write(JSONEncoder().encode(Note(id: "b", text: "repaired")), key: CacheKey("b"))
        #expect(await events.next()?.inserted == ["b"])
        #expect(store.undecodable.isEmpty)
        #expect(store["b"]?.text == "repaired")
    }

    @Test("What others have inserted before an own item is before it, and both are told once")
    func order() async throws {
        let engine = MemoryStorageEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        for round in 0..<20 {
            // Nothing is shown of the first before the second is written: both happen without leaving the main actor.
            let (other, own) = ("other \(round)", "own \(round)")
            try await engine.write(JSONEncoder().encode(Note(id: other)), key: CacheKey(other))
            try await store.insert(Note(id: own))
            var inserted: [String] = []
            while inserted.count < 2 { inserted += try #require(await events.next()).inserted }
            #expect(inserted == [other, own])
            _ = try await agreedNotes(store, engine)
        }
    }

    @Test("What an item becomes that is removed and inserted again by others")
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
        #expect(await events.next()?.removed == ["a"])
        #expect(await events.next()?.inserted == ["a"])
        #expect(store.items.map(\.id) == ["b", "c", "a"])
    }

    @Test("A history that does not reach back to the store makes it read everything")
    func longHistory() async throws {
        let engine = MemoryStorageEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        let data = try JSONEncoder().encode(Note(id: "a"))
        try await engine.write([(CacheKey, Data)](repeating: (CacheKey("a"), data), count: MemoryHistory.limit + 1))
        let event = await events.next()
        #expect(event?.operation == .loaded && event?.items == notes("a"))
    }

    @Test("Changes that could not be read are made up for")
    func failures() async throws {
        let engine = SharedEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        engine.historyFailures.withLock { $0 = [locked, locked] }
        engine.faulty.inject(.fail(.reads, .number(1), with: locked))
        try await engine.memory.write(JSONEncoder().encode(Note(id: "a")), key: CacheKey("a"))
        #expect(await events.next()?.inserted == ["a"])
    }

    @Test("A version is told once, though others write while it is read", arguments: [1, 15, 16])
    func writersBesideReading(count: Int) async throws {
        let engine = SharedEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        let write = { @Sendable (text: String) in
            try await engine.memory.write(JSONEncoder().encode(Note(id: "a", text: text)), key: CacheKey("a"))
        }
        engine.beforeReading.withLock { $0 = (1...count).map { number in { try await write("\(number)") } } }
        try await write("0")
        var told: [String] = []
        while told.last != "\(count)" {
            let event = try #require(await events.next())
            told += event.items.filter { $0.id == "a" }.map(\.text)
        }
        try await engine.memory.write(JSONEncoder().encode(Note(id: "end")), key: CacheKey("end"))
        while let event = await events.next(), !event.inserted.contains("end") { told += event.items.map(\.text) }
        #expect(Set(told).count == told.count, "\(told)")
    }

    @Test("Own changes are shown also if those of others can't be read, which follow")
    func failureAfterWriting() async throws {
        let engine = SharedEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        for round in 0..<10 {
            engine.historyFailures.withLock { $0 = [locked, locked] }
            try await engine.memory.write(
                JSONEncoder().encode(Note(id: "other \(round)")), key: CacheKey("other \(round)"))
            try await store.insert(Note(id: "own \(round)"))
            #expect(store.contains(id: "own \(round)"))
            while !store.contains(id: "other \(round)") { _ = await events.next() }
            _ = try await agreedNotes(store, engine)
        }
    }

    @Test("A store whose engine can't begin a history is loaded all the same, and follows once there is one")
    func lateHistory() async throws {
        let engine = SharedEngine()
        let readOnly = StorageError(.readOnly, "There is no history.")
        // The one of loading, and the one of the signal at the beginning.
        engine.historyFailures.withLock { $0 = [readOnly, readOnly] }
        try await engine.memory.write(JSONEncoder().encode(Note(id: "a")), key: CacheKey("a"))
        let store = try await Store<Note>(storage: engine)
        #expect(store.items == notes("a"))
        try await store.insert(Note(id: "own"))
        var events = store.events.makeAsyncIterator()
        try await engine.memory.write(JSONEncoder().encode(Note(id: "b")), key: CacheKey("b"))
        while store.count < 3 { _ = await events.next() }
        try await engine.memory.remove(key: CacheKey("a"))
        while let event = await events.next(), event.removed != ["a"] {}
        #expect(store.items == notes("own", "b"))
    }

    @Test("A store that has failed to load stays so, whatever others change")
    func failedStore() async throws {
        let engine = SharedEngine()
        engine.historyFailures.withLock { $0 = [locked] }
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
        #expect(await events.next()?.inserted == ["c"])
    }

    @Test("Following keeps neither the store nor its engine")
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
            while let event = await events.next(), event.removed != ["a"] {}
        }
        while engine != nil || model != nil { await Task.yield() }
    }

    // MARK: Others in the same moment

    private func write(_ note: Note, to engine: some StorageEngine) async throws {
        try await engine.apply([.write(key: CacheKey(note.id), data: JSONEncoder().encode(note))])
    }

    @Test("An own version is told once, and after it the one that others have written on top of it")
    func versions() async throws {
        let engine = SharedEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        for round in 0..<60 {
            // New, then shown already, then changed by others once more.
            let (id, isChangedAfter) = ("item \(round / 3)", round % 3 == 2)
            try await write(Note(id: id, text: "theirs"), to: engine.memory)
            try await write(Note(id: "next \(round)"), to: engine.memory)
            if isChangedAfter {
                engine.afterWriting.withLock { [memory = engine.memory] in
                    $0 = { [self] in try await write(Note(id: id, text: "last \(round)"), to: memory) }
                }
            }
            try await store.insert(Note(id: id, text: "own \(round)"))
            let expected = ["own \(round)"] + (isChangedAfter ? ["last \(round)"] : [])
            var told: [String] = []
            while told.last != expected.last {
                told += try #require(await events.next()).items.filter { $0.id == id }.map(\.text)
            }
            // What came first may have been shown before the own version was written.
            #expect(told.filter { $0 != "theirs" } == expected)
            #expect(told.count(where: { $0 == "theirs" }) <= 1)
            _ = try await agreedNotes(store, engine)
        }
    }

    @Test("A record that can't be decoded does not keep changes of others from being shown one by one")
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
            while inserted.count < 2 { inserted += try #require(await events.next()).inserted }
            #expect(inserted == [other, own])
        }
        #expect(store.undecodable.map(\.key) == [CacheKey("damaged")])
    }

    // MARK: Undoing beside others

    @Test("A write that has failed undoes nothing of what others have changed meanwhile")
    func failureBesideOthers() async throws {
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
            // What others do before the write fails, which the store has not seen.
            engine.beforeWriting.withLock { [memory = engine.memory] in
                $0 = {
                    try await memory.apply([.remove(key: CacheKey("b")), .write(key: CacheKey("c"), data: newer)])
                }
            }
            await #expect(throws: StorageError.self) { try await write(store) }
            #expect(await engine.memory.read(key: CacheKey("b")) == nil)
            #expect(await engine.memory.read(key: CacheKey("c")) == newer)
            try await store.reload()
            #expect(store.items == notes("a"))
        }
    }

    @Test("A write that was applied whole and fails is shown, and nothing that others write is overwritten")
    func appliedFailure() async throws {
        let engine = SharedEngine()
        try await engine.memory.write(
            notes("a", "b", "c").map { (CacheKey($0.id), try JSONEncoder().encode($0)) })
        let store = try await Store<Note>(storage: engine)
        engine.faulty.inject(.failAfterwards([.apply], .number(1), with: locked))
        engine.afterWriting.withLock { [memory = engine.memory] in
            $0 = { [self] in try await write(Note(id: "b", text: "theirs"), to: memory) }
        }
        await #expect(throws: StorageError.self) {
            try await store.removeAll().insert(Note(id: "b", text: "own")).insert(Note(id: "x")).run()
        }
        try await store.reload()
        #expect(Set(store.items.map(\.id)) == ["b", "x"])
        #expect(store["b"]?.text == "theirs")
    }

    @Test("Of a write that was applied and fails, nothing older is put back")
    func appliedFailureAfterOthers() async throws {
        let engine = SharedEngine()
        try await engine.memory.write(notes("a", "b").map { (CacheKey($0.id), try JSONEncoder().encode($0)) })
        let store = try await Store<Note>(storage: engine)
        engine.faulty.inject(.failAfterwards([.apply], .number(1), with: locked))
        // What the store has not seen when it writes.
        engine.beforeWriting.withLock { [memory = engine.memory] in
            $0 = { [self] in try await write(Note(id: "b", text: "theirs"), to: memory) }
        }
        await #expect(throws: StorageError.self) {
            try await store.insert([Note(id: "a", text: "own"), Note(id: "b", text: "own")])
        }
        try await store.reload()
        #expect(store.items.map(\.text) == ["own", "own"])
    }
}
