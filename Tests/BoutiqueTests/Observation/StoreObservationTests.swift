import Bodega
import BodegaTesting
import Boutique
import Foundation
import Observation
import Testing

@MainActor
@Suite struct StoreObservationTests {

    /// Counts how often observers of something are told.
    private final class Count: @unchecked Sendable {
        // @unchecked because observers are told on the main actor, where it is read.
        var value = 0
    }

    private func observe(_ read: () -> Void) -> Count {
        let count = Count()
        withObservationTracking(read) { count.value += 1 }
        return count
    }

    private func store(_ ids: String...) async throws -> Store<Note> {
        let store = try await Store<Note>(storage: MemoryStorageEngine())
        try await store.insert(ids.map { Note(id: $0) })
        return store
    }

    @Test("Who has read the items is told once, of a change however large")
    func items() async throws {
        let store = try await store("a")
        let items = observe { _ = store.items }
        let count = observe { _ = store.count }
        let state = observe { _ = store.state }
        let undecodable = observe { _ = store.undecodable }
        try await store.removeAll().insert((0..<5_000).map { Note(id: "\($0)") }).run()
        try await store.insert(Note(id: "b"))
        #expect(items.value == 1 && count.value == 1)
        #expect(state.value == 0 && undecodable.value == 0)
    }

    @Test("Who has read one item is told of its changes, and hardly ever of those of others")
    func oneItem() async throws {
        let store = try await store("a", "b")
        let changed = observe { _ = store["b"] }
        let removed = observe { _ = store.contains(id: "a") }
        let inserted = observe { _ = store["c"] }
        let unconcerned = (0..<100).map { number in observe { _ = store["other \(number)"] } }
        try await store.update("b") { $0.count = 1 }
        #expect(changed.value == 1)
        try await store.remove(id: "a").insert(Note(id: "c")).run()
        #expect(removed.value == 1 && inserted.value == 1)
        // By chance, some share a group with one of the three.
        #expect(unconcerned.filter { $0.value > 0 }.count < 20)
    }

    @Test("Who has read one item is told when many change")
    func manyChanges() async throws {
        let store = try await store("b")
        let many = observe { _ = store["4999"] }
        try await store.insert((0..<5_000).map { Note(id: "\($0)") })
        #expect(many.value == 1)
        let all = observe { _ = store["b"] }
        try await store.removeAll()
        #expect(all.value == 1)
        let none = observe { _ = store["b"] }
        try await store.reload()
        #expect(none.value == 1)
    }

    @Test("What changes nothing is told to no observer")
    func nothing() async throws {
        let store = try await store("a")
        let observed = observe { _ = (store.items, store["a"], store.state, store.undecodable) }
        var changes = 0
        let observing = store.objectWillChange.sink { changes += 1 }
        try await store.remove(id: "nobody")
        try await store.insert([])
        #expect(observed.value == 0 && changes == 0)
        observing.cancel()
    }

    @Test("State and undecodable records are observed")
    func state() async throws {
        let engine = MemoryStorageEngine()
        let failing = FaultInjectingStorageEngine(engine, faults: [.fail([.fetchAll], .number(1))])
        let store = Self.syncStore(failing)
        let loading = observe { _ = store.state }
        await #expect(throws: StorageError.self) { try await store.itemsHaveLoaded() }
        #expect(loading.value == 1)
        try await engine.write(Data("?".utf8), key: CacheKey("odd"))
        let failed = observe { _ = store.state }
        let undecodable = observe { _ = store.undecodable }
        try await store.reload()
        #expect(failed.value == 1 && undecodable.value == 1)
        let removed = observe { _ = store.undecodable }
        let items = observe { _ = store.items }
        try await store.removeUndecodable()
        #expect(removed.value == 1 && items.value == 0)
    }

    private static func syncStore(_ engine: any StorageEngine) -> Store<Note> {
        Store(storage: engine)
    }

    @Test("The store as an object announces a change before it is there")
    func objectWillChange() async throws {
        let store = try await store("a")
        var counts: [Int] = []
        let observing = store.objectWillChange.sink { counts.append(store.count) }
        try await store.insert(Note(id: "b"))
        try await store.remove(id: "a")
        #expect(counts == [1, 2])
        observing.cancel()
    }
}
