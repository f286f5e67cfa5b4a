import BodegaTesting
import Boutique
import Foundation
import Observation
import TestSupport
import Testing

@MainActor
@Suite struct WatchingTests {
    let milk = Note(id: "milk")
    let tea = Note(id: "tea")
    let store = Store<Note>.previewStore(items: [])

    @Test func `Subscribing to items`() async throws {
        var published: [[Note]] = []
        let subscription = store.$items.sink(receiveValue: { items in
            published.append(items)
        })
        try await store.add(milk)
        try await store.add(tea)
        #expect(published == [[], [milk], [milk, tea]])
        subscription.cancel()
        try await store.removeAll()
        #expect(published.count == 3)
    }

    @Test func `Deriving publishers from items`() async throws {
        var cancellables = Set<AnyCancellable>()
        var counts: [Int] = []
        store.$items
            .map { $0.filter { $0.id != "tea" }.count }
            .removeDuplicates()
            .sink { counts.append($0) }
            .store(in: &cancellables)
        try await store.add(milk)
        try await store.add(tea)
        try await store.remove(milk)
        #expect(counts == [0, 1, 0])
    }

    @Test func `The store as an observable object`() async throws {
        var changes = 0
        let subscription = store.objectWillChange.sink { changes += 1 }
        try await store.add([milk, tea])
        try await store.removeAll()
        #expect(changes == 2)
        subscription.cancel()
    }

    @Test func `Events of version 3`() async throws {
        let gate = StorageGate()
        let engine = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.hold([.scan], at: gate)])
        let store = makeStore(engine)
        var log: [String] = []
        for await event in store.events {
            switch event.operation {
            case .initialized:
                log.append("initialized")
                gate.release()
            case .loaded:
                log.append("loaded \(event.items.map(\.id))")
                try await store.insert([milk, tea])
            case .insert:
                log.append("insert \(event.items.map(\.id))")
                try await store.remove(milk)
            case .remove:
                log.append("remove \(event.items.map(\.id))")
            }
            if event.operation == .remove { break }
        }
        #expect(log == ["initialized", "loaded []", #"insert ["milk", "tea"]"#, #"remove ["milk"]"#])
    }

    private func makeStore(_ engine: StorageEngine) -> Store<Note> {
        Store(storage: engine)
    }

    @Test func `Observation of version 3`() async throws {
        let changes = Counter()
        withObservationTracking {
            _ = store.items
        } onChange: {
            changes.increment()
        }
        try await store.insert(milk)
        try await store.insert(tea)
        #expect(changes.count == 1)
    }
}
