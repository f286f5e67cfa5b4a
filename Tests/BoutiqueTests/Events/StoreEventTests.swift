import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct StoreEventTests {

    private func store(_ ids: String...) async throws -> Store<Note> {
        let store = try await Store<Note>(storage: MemoryStorageEngine())
        try await store.insert(ids.map { Note(id: $0) })
        return store
    }

    @Test("A reader receives a snapshot, then an event for each operation with the items that it changed")
    func sequence() async throws {
        let store = try await store("a", "b")
        var events = store.events.makeAsyncIterator()
        let snapshot = await events.next()
        #expect(snapshot?.operation == .loaded)
        #expect(snapshot?.items == notes("a", "b"))
        try await store.insert(notes("b", "c", "c"))
        let insertion = await events.next()
        #expect(insertion?.operation == .insert)
        #expect(insertion?.items == notes("b", "c"))
        #expect(insertion?.insertedIDs == ["c"] && insertion?.updatedIDs == ["b"] && insertion?.removedIDs == [])
        try await store.remove(notes("c", "absent", "a"))
        let removal = await events.next()
        #expect(removal?.operation == .remove)
        #expect(removal?.items == notes("c", "a"))
        #expect(removal?.removedIDs == ["c", "a"])
        try await store.update(id: "b") { $0.text = "new" }
        let update = await events.next()
        #expect(update?.operation == .insert && update?.updatedIDs == ["b"])
        #expect(update?.items == [Note(id: "b", text: "new")])
        try await store.removeAll().add(Note(id: "d")).run()
        let clearing = await events.next()
        #expect(clearing?.operation == .remove && clearing?.removedIDs == ["b"])
        #expect(await events.next()?.insertedIDs == ["d"])
        try await store.reload()
        #expect(await events.next()?.operation == .loaded)
    }

    @Test("Removing an item that is not stored is an event without items")
    func removalOfAbsentItem() async throws {
        let store = try await store("a")
        var events = store.events.makeAsyncIterator()
        _ = await events.next()
        try await store.remove(Note(id: "absent"))
        let removal = await events.next()
        #expect(removal?.operation == .remove && removal?.items == [] && removal?.removedIDs == [])
        #expect(store.items == notes("a"))
    }

    @Test("A reader of a loading store receives an initial event, then the loaded items")
    func loading() async throws {
        let gate = StorageGate()
        let store = Self.syncStore(
            FaultInjectingStorageEngine(WithoutLog(MemoryStorageEngine()), faults: [.hold([.scan], at: gate)]))
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .initialized)
        gate.release()
        let loaded = await events.next()
        #expect(loaded?.operation == .loaded && loaded?.items == [])
    }

    private static func syncStore(_ engine: any StorageEngine) -> Store<Note> {
        Store(storage: engine)
    }

    @Test("A reader that starts reading late receives the snapshot of its subscription and all events since")
    func subscribingFirst() async throws {
        let store = try await store("a")
        let stream = store.events
        try await store.insert(Note(id: "b"))
        try await store.reload()
        try await store.insert(Note(id: "c"))
        var events = stream.makeAsyncIterator()
        #expect(await events.next()?.items == notes("a"))
        #expect(await events.next()?.insertedIDs == ["b"])
        #expect(await events.next()?.operation == .loaded)
        #expect(await events.next()?.insertedIDs == ["c"])
    }

    @Test("Operations that are written as one batch are one change, with an event for each in order")
    func coalescedEvents() async throws {
        let gate = StorageGate()
        let engine = FaultInjectingStorageEngine(
            MemoryStorageEngine(), faults: [.hold([.apply], .number(1), at: gate)])
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        var changes = 0
        let observing = store.objectWillChange.sink { changes += 1 }
        var published: [Int] = []
        let subscription = store.$items.sink { published.append($0.count) }
        let first = Task { try await store.insert(Note(id: "first")) }
        await gate.waitForArrivals(1)
        let tasks = (0..<100).map { number in Task { try await store.insert(Note(id: "\(number)")) } }
        await Task.yield()
        gate.release()
        try await first.value
        for task in tasks { try await task.value }
        #expect(await events.next()?.insertedIDs == ["first"])
        for number in 0..<100 { #expect(await events.next()?.insertedIDs == ["\(number)"]) }
        #expect(changes == 2)
        #expect(published == [0, 1, 101])
        observing.cancel()
        subscription.cancel()
    }

    @Test("A reader that falls far behind receives a snapshot instead of the missed events")
    func slowReader() async throws {
        let store = try await store()
        var events = store.events.makeAsyncIterator()
        _ = await events.next()
        for round in 0..<3 {
            try await store.insert((0..<40_000).map { Note(id: "\($0)", count: round) })
        }
        let snapshot = await events.next()
        #expect(snapshot?.operation == .loaded)
        #expect(snapshot?.items.count == 40_000 && snapshot?.items.allSatisfy { $0.count == 2 } == true)
        try await store.insert(Note(id: "next"))
        #expect(await events.next()?.insertedIDs == ["next"])
    }

    @Test("Readers are independent, and a cancelled one ends")
    func readers() async throws {
        let store = try await store("a")
        let reading = Task {
            var operations: [StoreEvent<Note>.Operation] = []
            for await event in store.events { operations.append(event.operation) }
            return operations
        }
        var events = store.events.makeAsyncIterator()
        _ = await events.next()
        try await store.insert(Note(id: "b"))
        #expect(await events.next()?.insertedIDs == ["b"])
        reading.cancel()
        #expect(await reading.value.count <= 2)
    }

    @Test("Streams end when the store is deallocated")
    func end() async throws {
        var store: Store<Note>? = try await store("a")
        let stream = try #require(store?.events)
        let values = try #require(store?.values(id: "a"))
        let reading = Task { await all(of: stream).map(\.operation) }
        let readingValues = Task { await all(of: values) }
        await Task.yield()
        store = nil
        #expect(await reading.value == [.loaded])
        #expect(await readingValues.value == [Note(id: "a")])
    }

    private func all<Element: Sendable>(of stream: AsyncStream<Element>) async -> [Element] {
        var elements: [Element] = []
        for await element in stream { elements.append(element) }
        return elements
    }

    @Test("A stream of one item's versions emits those of no other item")
    func values() async throws {
        let store = try await store("a")
        var values = store.values(id: "a").makeAsyncIterator()
        #expect(await values.next() == Note(id: "a"))
        try await store.insert(Note(id: "b"))
        try await store.update(id: "a") { $0.count = 1 }
        #expect(await values.next() == Note(id: "a", count: 1))
        try await store.remove(id: "a")
        #expect(await values.next() == .some(nil))
        try await store.update(id: "a") { $0.count = 2 }
        try await store.insert(Note(id: "a", count: 3))
        try await store.insert(Note(id: "a", count: 4))
        // The reader is slower than the changes, so it receives the latest version.
        #expect(await values.next() == Note(id: "a", count: 4))
    }

    @Test("A stream of an item's versions begins when the store is loaded")
    func valuesWhileLoading() async throws {
        let memory = MemoryStorageEngine()
        try await Store<Note>(storage: memory).insert(notes("a"))
        let gate = StorageGate()
        let store = Self.syncStore(FaultInjectingStorageEngine(WithoutLog(memory), faults: [.hold([.scan], at: gate)]))
        var values = store.values(id: "a").makeAsyncIterator()
        gate.release()
        #expect(await values.next() == Note(id: "a"))
    }
}
