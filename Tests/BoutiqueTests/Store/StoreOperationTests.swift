import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct StoreOperationTests {
    let engine = RecordingStorageEngine(MemoryStorageEngine())

    private func store(_ ids: String...) async throws -> Store<Note> {
        let store = try await Store<Note>(storage: engine)
        try await store.insert(ids.map { Note(id: $0) })
        return store
    }

    @Test("If several items of one call have the same identifier, the last one wins, in the place of the first")
    func duplicates() async throws {
        let store = try await store()
        try await store.insert([Note(id: "a", text: "1"), Note(id: "b"), Note(id: "a", text: "2")])
        #expect(try await agreedNotes(store, engine) == [Note(id: "a", text: "2"), Note(id: "b")])
    }

    @Test("Inserting an item again replaces it in its place, and removing it first moves it to the end")
    func places() async throws {
        let store = try await store("a", "b")
        try await store.add(Note(id: "a", text: "new"))
        #expect(try await agreedNotes(store, engine) == [Note(id: "a", text: "new"), Note(id: "b")])
        try await store.remove(Note(id: "a")).add(Note(id: "a")).run()
        #expect(try await agreedNotes(store, engine) == notes("b", "a"))
    }

    @Test("Items can be removed by item and by identifier, and absent ones are ignored")
    func removal() async throws {
        let store = try await store("a", "b", "c", "d", "e")
        try await store.remove(Note(id: "b", text: "another version"))
        try await store.remove(id: "d")
        try await store.remove(notes("e", "absent", "a"))
        try await store.remove(id: "absent")
        #expect(try await agreedNotes(store, engine) == notes("c"))
        try await store.removeAll()
        #expect(try await agreedNotes(store, engine) == [])
    }

    @Test("Items are looked up by their identifiers")
    func lookup() async throws {
        let store = try await store("a", "b", "c")
        try await store.remove(id: "a")
        #expect(store["b"] == Note(id: "b"))
        #expect(store["a"] == nil)
        #expect(store.contains(id: "c") && !store.contains(id: "a"))
        #expect(store.count == 2 && !store.isEmpty)
    }

    @Test("Identifiers that look alike but differ in their bytes are different, in memory and in the engine")
    func likeness() async throws {
        let store = try await store("\u{E9}", "e\u{301}")
        #expect(try await agreedNotes(store, engine).count == 2)
        try await store.reload()
        #expect(store.count == 2)
    }

    @Test("Items that are identified by UUIDs can be looked up by UUID")
    func uuids() async throws {
        struct Thing: Codable, Identifiable, Equatable {
            var id = UUID()
            var name = ""
        }
        let store = try await Store<Thing>(storage: engine)
        let thing = Thing()
        try await store.insert([thing, Thing()])
        #expect(store[thing.id] == thing && store.contains(id: thing.id))
        #expect(try await store.update(id: thing.id) { $0.name = "new" }?.name == "new")
        #expect(await engine.allKeys().first == CacheKey(thing.id.uuidString))
        try await store.transaction { things in
            #expect(things[thing.id]?.name == "new" && things.contains(id: thing.id))
            try things.update(id: thing.id) { $0.name = "newer" }
            things.remove(id: UUID())
        }
        #expect(store[thing.id]?.name == "newer")
        try await store.remove(id: thing.id)
        #expect(!store.contains(id: thing.id) && store.count == 1)
        try await store.insert(thing).remove(id: thing.id).run()
        #expect(store.count == 1)
    }

    @Test("An update reads and writes without another operation in between")
    func updates() async throws {
        let store = try await store("a", "b")
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask { _ = try await store.update(id: "a") { $0.count += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(store["a"]?.count == 200)
        #expect(try await agreedNotes(store, engine).first?.count == 200)
    }

    @Test("An update of an absent item does nothing and returns nil")
    func updateOfNothing() async throws {
        let store = try await store("a")
        #expect(try await store.update(id: "b") { $0.count = 1 } == nil)
        #expect(try await agreedNotes(store, engine) == notes("a"))
    }

    @Test("An update that throws, or changes the identifier, changes nothing")
    func failedUpdates() async throws {
        let store = try await store("a")
        await #expect(throws: CancellationError.self) {
            try await store.update(id: "a") {
                $0.count = 1
                throw CancellationError()
            }
        }
        let error = await #expect(throws: StorageError.self) { try await store.update(id: "a") { $0.id = "b" } }
        #expect(error?.code == .invalidArgument)
        #expect(try await agreedNotes(store, engine) == notes("a"))
    }

    @Test("A transaction sees its own changes, returns a value, and is one batch")
    func transactions() async throws {
        let store = try await store("a", "b")
        let before = engine.calls.count
        let total = try await store.transaction { notes in
            notes.insert(Note(id: "c", count: 5))
            notes.remove(id: "a")
            #expect(notes["a"] == nil && !notes.contains(id: "a"))
            try notes.update(id: "c") { $0.count += 1 }
            return notes["c"]?.count
        }
        #expect(total == 6)
        // The log's own task may read too, from what was written before, at any time.
        #expect(engine.calls[before...].map(\.operation).filter(\.isWrite) == [.apply])
        #expect(try await agreedNotes(store, engine) == [Note(id: "b"), Note(id: "c", count: 6)])
        try await store.transaction { notes in
            notes.removeAll()
            #expect(notes["b"] == nil)
            notes.insert([Note(id: "d"), Note(id: "b")])
            notes.remove(Note(id: "d"))
        }
        #expect(try await agreedNotes(store, engine) == [Note(id: "b")])
    }

    @Test("A transaction that throws changes nothing, and concurrent ones succeed")
    func failedTransaction() async throws {
        let store = try await store("a")
        async let first: Void = store.transaction { notes in
            try notes.update(id: "a") { $0.count += 1 }
        }
        let second = Task {
            try await store.transaction { notes in
                notes.removeAll()
                throw CancellationError()
            }
        }
        async let third = store.update(id: "a") { $0.count += 10 }
        try await first
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(try await third?.count ?? 0 >= 10)
        #expect(try await agreedNotes(store, engine) == [Note(id: "a", count: 11)])
    }

    @Test("Operations that wait together are written as one batch, in the order of the calls")
    func coalescing() async throws {
        let gate = StorageGate()
        let slow = FaultInjectingStorageEngine(WithoutLog(engine), faults: [.hold([.apply], .number(1), at: gate)])
        let store = try await Store<Note>(storage: slow)
        let tasks = (0..<50).map { number in
            Task { try await store.insert(Note(id: "\(number)")) }
        }
        await gate.waitForArrivals(1)
        // This call comes after all others, so they have been made when it is.
        let last = Task { try await store.remove(id: "3") }
        await Task.yield()
        gate.release()
        for task in tasks { try await task.value }
        try await last.value
        #expect(engine.calls.filter { $0.operation == .apply }.count <= 3)
        #expect(try await agreedNotes(store, engine).map(\.id) == (0..<50).filter { $0 != 3 }.map { "\($0)" })
    }

    @Test("Cancelling a task does not cancel its operation")
    func cancellation() async throws {
        let gate = StorageGate()
        let slow = FaultInjectingStorageEngine(WithoutLog(engine), faults: [.hold([.apply], at: gate)])
        let store = try await Store<Note>(storage: slow)
        let task = Task { try await store.insert(Note(id: "a")) }
        await gate.waitForArrivals(1)
        task.cancel()
        gate.release()
        try await task.value
        #expect(try await agreedNotes(store, engine) == notes("a"))
    }

    @Test("A custom coder is used as it is")
    func coder() async throws {
        struct Event: Codable, Identifiable { var id: String; var date: Date }
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
        let coder = JSONObjectCoder.json(encoder: encoder, decoder: decoder)
        let store = try await Store<Event>(storage: engine, coder: coder)
        try await store.insert(Event(id: "moon", date: Date(timeIntervalSince1970: 0)))
        let text = try #require(
            try await engine.fetch(key: CacheKey("moon")).map { String(decoding: $0, as: UTF8.self) })
        #expect(text.contains("1970-01-01T00:00:00Z"))
        try await store.reload()
        #expect(store["moon"]?.date == Date(timeIntervalSince1970: 0))
    }
}
