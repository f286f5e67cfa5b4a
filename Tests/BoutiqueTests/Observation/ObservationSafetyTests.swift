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

@MainActor
@Suite struct ObservationSafetyTests {

    private static func makeStore<Item: StorableItem & Identifiable>(
        _ engine: any StorageEngine
    ) -> Store<Item> where Item.ID == String {
        Store(storage: engine)
    }

    @Test("An operation that waits for the load does not copy all loaded items")
    func copyAfterLoad() async throws {
        let memory = MemoryStorageEngine()
        try await Store<Note>(storage: memory).insert((0..<1_000).map { Note(id: "\($0)") })
        let gate = StorageGate()
        let store: Store<Note> = Self.makeStore(
            FaultInjectingStorageEngine(memory, faults: [.hold([.fetchAll], at: gate)]))
        var addresses: [UnsafeRawPointer?] = []
        let watching = store.$items.sink { items in
            addresses.append(items.withUnsafeBytes { $0.baseAddress })
        }
        let waiting = Task { try await store.insert(Note(id: "5", text: "new")) }
        await gate.waitForArrivals(1)
        await Task.yield()
        gate.release()
        try await waiting.value
        // Empty, loaded, replaced at its place.
        #expect(addresses.count == 3)
        #expect(addresses[1] == addresses[2])
        watching.cancel()
    }

    private final class Tracked: Codable, Sendable, Identifiable {
        let id: String
        init(id: String) { self.id = id }
    }

    @Test("A subscriber that never cancels does not keep the items of a store that is gone")
    func leak() async throws {
        weak var item: Tracked?
        do {
            let strong = Tracked(id: "a")
            item = strong
            let store = try await Store<Tracked>(storage: MemoryStorageEngine())
            try await store.insert(strong)
            store.$items.subscribe(Subscribers.Sink(receiveCompletion: { _ in }, receiveValue: { _ in }))
        }
        for _ in 0..<20 { await Task.yield() }
        #expect(item == nil)
    }

    @Test("Two tasks that read one stream of events both go on")
    func twoReaders() async throws {
        let store = try await Store<Note>(storage: MemoryStorageEngine())
        let subscription = EventSubscription<Note> { StoreEvent(.loaded) }
        _ = await subscription.next()
        let first = Task { await subscription.next() }
        await Task.yield()
        let second = Task { await subscription.next() }
        await Task.yield()
        subscription.receive(StoreEvent(.insert), itemsInStore: 0)
        subscription.finish()
        _ = await second.value
        let finished = Locked(false)
        Task {
            _ = await first.value
            finished.withLock { $0 = true }
        }
        for _ in 0..<50 { await Task.yield() }
        #expect(finished.withLock { $0 })
        _ = store
    }

    private struct ToldEngine: ProcessObservableEngine {
        let memory: FaultInjectingStorageEngine<MemoryStorageEngine>
        let stream = AsyncThrowingStream.makeStream(of: ProcessChange.self)
        func changes() -> AsyncThrowingStream<ProcessChange, any Error> { stream.stream }
        func tell(_ change: ProcessChange) { stream.continuation.yield(change) }
        func write(_ data: Data, key: CacheKey) async throws { try await memory.write(data, key: key) }
        func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws { try await memory.write(dataAndKeys) }
        func read(key: CacheKey) async -> Data? { await memory.read(key: key) }
        func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
            try await memory.fetch(keys: keys)
        }
        func remove(key: CacheKey) async throws { try await memory.remove(key: key) }
        func removeAllData() async throws { try await memory.removeAllData() }
        func keyExists(_ key: CacheKey) async -> Bool { await memory.keyExists(key) }
        func allKeys() async -> [CacheKey] { await memory.allKeys() }
        func createdAt(key: CacheKey) async -> Date? { await memory.createdAt(key: key) }
        func updatedAt(key: CacheKey) async -> Date? { await memory.updatedAt(key: key) }
    }

    @Test("A change of others tells observers of undecodable records nothing if there are none")
    func spurious() async throws {
        let engine = ToldEngine(memory: FaultInjectingStorageEngine(MemoryStorageEngine()))
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        _ = await events.next()
        let count = Locked(0)
        withObservationTracking({ _ = store.undecodable }, onChange: { count.withLock { $0 += 1 } })
        try await engine.memory.base.write(JSONEncoder().encode(Note(id: "a")), key: CacheKey("a"))
        engine.tell(.items([CacheKey("a")]))
        _ = await events.next()
        #expect(count.withLock { $0 } == 0)
    }

    @Test("A store follows changes again after one could not be read")
    func following() async throws {
        let engine = ToldEngine(memory: FaultInjectingStorageEngine(MemoryStorageEngine()))
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        _ = await events.next()
        engine.memory.inject(.fail(.reads, .number(1), with: StorageError(.locked, "Somebody else has it.")))
        try await engine.memory.base.write(JSONEncoder().encode(Note(id: "a")), key: CacheKey("a"))
        // The first can't be read. With the second, everything is read, because something was missed.
        engine.tell(.items([CacheKey("a")]))
        engine.tell(.items([CacheKey("b")]))
        let made = await events.next()
        #expect(made?.operation == .loaded && made?.items == notes("a"))
        #expect(store.items == notes("a"))
    }
}
