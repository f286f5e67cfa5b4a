import Bodega
import BodegaTesting
import Boutique
import Foundation
import Observation
import TestSupport
import Testing

@MainActor
@Suite struct StoreObservationTests {

    /// Counts the notifications of an observer.
    private final class Count: @unchecked Sendable {
        // @unchecked because observers are notified on the main actor, where the value is read.
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

    @Test("An observer of all items is notified once per change of any size")
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

    @Test("An observer of one item is notified of its changes, and rarely of those of other items")
    func oneItem() async throws {
        let store = try await store("a", "b")
        let changed = observe { _ = store["b"] }
        let removed = observe { _ = store.contains(id: "a") }
        let inserted = observe { _ = store["c"] }
        let unrelated = (0..<100).map { number in observe { _ = store["other \(number)"] } }
        try await store.update(id: "b") { $0.count = 1 }
        #expect(changed.value == 1)
        try await store.remove(id: "a").insert(Note(id: "c")).run()
        #expect(removed.value == 1 && inserted.value == 1)
        // Some share a group with one of the three items by chance.
        #expect(unrelated.filter { $0.value > 0 }.count < 20)
    }

    @Test("An observer of one item is notified when many items change")
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

    @Test("An operation that changes nothing notifies no observer")
    func nothing() async throws {
        let store = try await store("a")
        let observed = observe { _ = (store.items, store["a"], store.state, store.undecodable) }
        var changes = 0
        let observing = store.objectWillChange.sink { changes += 1 }
        try await store.remove(id: "absent")
        try await store.insert([])
        #expect(observed.value == 0 && changes == 0)
        observing.cancel()
    }

    @Test("State and undecodable records can be observed")
    func state() async throws {
        let engine = MemoryStorageEngine()
        let failing = FaultInjectingStorageEngine(WithoutLog(engine), faults: [.fail([.scan], .number(1))])
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

    @Test("The store announces a change as an observable object before it happens")
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
