import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// Stores that follow what others change in their engine.
@MainActor
@Suite struct StoreChangeFeedTests {

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
            #expect(await events.next()?.inserted == [other])
            #expect(await events.next()?.inserted == [own])
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
        weak var live: LiveContents<Note>?
        do {
            let memory = MemoryStorageEngine()
            let store = try await Store<Note>(storage: memory)
            (engine, live) = (memory, store.live)
            try await store.insert(Note(id: "a"))
            try await memory.remove(key: CacheKey("a"))
            var events = store.events.makeAsyncIterator()
            while let event = await events.next(), event.removed != ["a"] {}
        }
        while engine != nil || live != nil { await Task.yield() }
    }
}
