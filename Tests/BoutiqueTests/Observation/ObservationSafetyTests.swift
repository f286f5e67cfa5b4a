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
            FaultInjectingStorageEngine(WithoutLog(memory), faults: [.hold([.scan], at: gate)]))
        var addresses: [UnsafeRawPointer?] = []
        let watching = store.$items.sink { items in
            addresses.append(items.withUnsafeBytes { $0.baseAddress })
        }
        let waiting = Task { try await store.insert(Note(id: "5", text: "new")) }
        await gate.waitForArrivals(1)
        await Task.yield()
        gate.release()
        try await waiting.value
        // Empty, loaded, and replaced in its place.
        #expect(addresses.count == 3)
        #expect(addresses[1] == addresses[2])
        watching.cancel()
    }

    private final class Tracked: Codable, Sendable, Identifiable {
        let id: String
        init(id: String) { self.id = id }
    }

    @Test("A subscriber that never cancels does not keep the items of a deallocated store alive")
    func leak() async throws {
        weak var item: Tracked?
        do {
            let strong = Tracked(id: "a")
            item = strong
            let store = try await Store<Tracked>(storage: MemoryStorageEngine())
            try await store.insert(strong)
            store.$items.subscribe(Subscribers.Sink(receiveCompletion: { _ in }, receiveValue: { _ in }))
        }
        // Tasks that are ending may hold it a little longer. If it stays, the time limit makes the test fail.
        while item != nil { await Task.yield() }
    }

    @Test("If two tasks read one stream of events, neither waits forever")
    func twoReaders() async throws {
        let store = try await Store<Note>(storage: MemoryStorageEngine())
        let subscription = EventSubscription<StoreEvent<Note>> { StoreEvent(.loaded) }
        _ = await subscription.next()
        let first = Task { await subscription.next() }
        await Task.yield()
        let second = Task { await subscription.next() }
        await Task.yield()
        subscription.receive(StoreEvent(.insert), itemsInStore: 0)
        subscription.finish()
        _ = await second.value
        // If this read never returns, the time limit makes the test fail.
        _ = await first.value
        withExtendedLifetime(store) {}
    }

    @Test("A foreign change does not notify observers of undecodable records if there are none")
    func spurious() async throws {
        let engine = MemoryStorageEngine()
        let store = try await Store<Note>(storage: engine)
        var events = store.events.makeAsyncIterator()
        _ = await events.next()
        let count = Locked(0)
        withObservationTracking({ _ = store.undecodable }, onChange: { count.withLock { $0 += 1 } })
        try await engine.write(JSONEncoder().encode(Note(id: "a")), key: CacheKey("a"))
        _ = await events.next()
        #expect(count.withLock { $0 } == 0)
    }
}
