import Bodega
import BodegaTesting
import Foundation
import Observation
import TestSupport
import Testing

@testable import Boutique

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// Changes that are so large that a store prepares them off the main actor.
@MainActor
@Suite struct LargeChangeTests {
    private let engine = MemoryStorageEngine()

    private static func writes(_ notes: [Note]) throws -> [StorageOperation] {
        let encoder = JSONEncoder()
        return try notes.map { .write(key: CacheKey($0.id), data: try encoder.encode($0)) }
    }

    private func store(_ count: Int) async throws -> Store<Note> {
        try await engine.apply(Self.writes((0..<count).map { Note(id: "\($0)") }))
        return try await Store<Note>(storage: engine)
    }

    /// The address of the items in memory. It stays the same as long as items are replaced in place.
    private func address(_ store: Store<Note>) -> UnsafeRawPointer? {
        store.items.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
    }

    @Test("The main actor makes a small change in place, and only shows a large one", arguments: [true, false])
    func largest(isForeign: Bool) async throws {
        let store = try await store(20_000)
        for (count, isPrepared) in [(1, false), (4_096, false), (4_097, true), (10_000, true), (4_096, false)] {
            let before = address(store)
            let text = "\(count) \(isPrepared)"
            let changed = (0..<count).map { Note(id: "\($0)", text: text) }
            if isForeign {
                try await engine.apply(Self.writes(changed))
                #expect(try await eventually { store["\(count - 1)"]?.text == text })
            } else {
                try await store.insert(changed)
            }
            #expect((address(store) != before) == isPrepared, "\(count)")
            #expect(store.items.prefix(count) == changed[...])
        }
    }

    @Test(
        "A few thousand changes of a million items are made in place, so that their cost does not depend on the items")
    func fewOfMany() {
        func isLarge(_ change: Int, of count: Int) -> Bool {
            OrderedItems<Int>(Array(0..<count), ranks: Dictionary(ranking: (0..<count).lazy.map { CacheKey("\($0)") }))?
                .isLarge(change) == true
        }
        #expect(isLarge(4_097, of: 0) && !isLarge(4_096, of: 0))
        #expect(!isLarge(5_000, of: 400_000) && isLarge(7_000, of: 400_000))
    }

    @Test func `All observers see a large foreign batch once and as a whole, and agree with a plain array`()
        async throws
    {
        print("large changes: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let store = try await store(12_000)
        var expected = store.items
        let before = expected
        var operations: [StorageOperation] = []
        for number in 0..<8_000 {
            let id = "\(Int.random(in: 0..<16_000, using: &random))"
            let place = expected.firstIndex { $0.id == id }
            if Int.random(in: 0..<4, using: &random) == 0 {
                operations.append(.remove(key: CacheKey(id)))
                if let place { expected.remove(at: place) }
            } else {
                let note = Note(id: id, text: "\(number)")
                operations += try Self.writes([note])
                if let place { expected[place] = note } else { expected.append(note) }
            }
        }

        var published: [[Note]] = []
        var announced: [[Note]] = []
        let subscriptions = [
            store.$items.sink { items in MainActor.assumeIsolated { published.append(items) } },
            store.objectWillChange.sink { MainActor.assumeIsolated { announced.append(store.items) } },
        ]
        let tracked = Locked(0)
        withObservationTracking {
            _ = (store.items, store["0"])
        } onChange: {
            tracked.withLock { $0 += 1 }
        }
        var events = store.events.makeAsyncIterator()
        var replayed = try #require(await events.next()).items
        let changedID = try #require(expected.last?.id)
        var versions = store.values(id: changedID).makeAsyncIterator()
        #expect(try #require(await versions.next()) == nil || before.contains { $0.id == changedID })

        try await engine.apply(operations)
        #expect(try await eventually { published.count == 2 })
        #expect(store.items == expected)
        #expect(published == [before, expected])
        #expect(announced == [before])
        #expect(tracked.withLock { $0 } == 1)
        #expect(try #require(await versions.next())?.text == expected.last?.text)
        for id in 0..<16_000 where id % 97 == 0 { #expect(store["\(id)"] == expected.first { $0.id == "\(id)" }) }
        while replayed != expected, let event = await events.next() { replay(event, on: &replayed) }
        #expect(replayed == expected)
        // The positions are right, too.
        try await store.remove(id: expected[5_000].id)
        expected.remove(at: 5_000)
        #expect(try await agreedNotes(store, engine) == expected)
        subscriptions.forEach { $0.cancel() }
    }

    private func replay(_ event: StoreEvent<Note>, on notes: inout [Note]) {
        switch event.operation {
        case .initialized, .loaded: notes = event.items
        case .remove:
            let removed = Set(event.removedIDs)
            notes.removeAll { removed.contains($0.id) }
        case .insert:
            let inserted = Set(event.insertedIDs)
            let new = Dictionary(uniqueKeysWithValues: event.items.map { ($0.id, $0) })
            for index in notes.indices { notes[index] = new[notes[index].id] ?? notes[index] }
            notes += event.items.filter { inserted.contains($0.id) }
        }
    }

    @Test func `Removing all of many items, and inserting them again, are changes of all`() async throws {
        let store = try await store(6_000)
        var events = store.events.makeAsyncIterator()
        let notes = try #require(await events.next()).items
        try await store.removeAll()
        #expect(store.isEmpty && store["0"] == nil)
        #expect(await events.next()?.removedIDs == notes.map(\.id))
        try await store.insert(notes.reversed())
        #expect(await events.next()?.insertedIDs == notes.reversed().map(\.id))
        #expect(try await agreedNotes(store, engine) == notes.reversed())
    }

    @Test func `A reader that appears while a change is prepared receives a snapshot after it`() async throws {
        var loaded = LoadedRecords<Note>()
        for note in notes("a", "b") { loaded.contents.insert(note, under: CacheKey(note.id)) }
        let model = StoreModel(loaded)
        let prepared = await PreparedChange(
            [[.remove([CacheKey("a")])]], of: model.contents, model.exceptions, reportsEvents: model.hasReaders)
        var events = model.events().makeAsyncIterator()
        #expect(await events.next()?.items == notes("a", "b"))
        model.change(prepared).show()
        let event = await events.next()
        #expect(event?.operation == .loaded && event?.items == notes("b"))
    }
}
