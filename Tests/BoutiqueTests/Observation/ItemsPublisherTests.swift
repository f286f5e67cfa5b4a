import Bodega
import Boutique
import TestSupport
import Testing
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@MainActor
@Suite struct ItemsPublisherTests {

    private func store(_ ids: String...) async throws -> Store<Note> {
        let store = try await Store<Note>(storage: MemoryStorageEngine())
        try await store.insert(ids.map { Note(id: $0) })
        return store
    }

    /// A subscriber that requests only what the test requests.
    private final class ManualSubscriber: Subscriber {
        var subscription: (any Subscription)?
        var received: [[String]] = []

        func receive(subscription: any Subscription) { self.subscription = subscription }
        func receive(completion: Subscribers.Completion<Never>) {}
        func receive(_ items: [Note]) -> Subscribers.Demand {
            received.append(items.map(\.id))
            return .none
        }
    }

    @Test("A subscriber receives the items immediately and after each change")
    func sink() async throws {
        let store = try await store("a")
        var received: [[String]] = []
        let subscription = store.$items.map { $0.map(\.id) }.sink { received.append($0) }
        #expect(received == [["a"]])
        try await store.insert(Note(id: "b"))
        try await store.removeAll()
        #expect(received == [["a"], ["a", "b"], []])
        subscription.cancel()
        try await store.insert(Note(id: "c"))
        #expect(received.count == 3)
    }

    @Test("The published items are those that the store shows")
    func agreement() async throws {
        let store = try await store("a")
        var isEqual: [Bool] = []
        let subscription = store.$items.sink { isEqual.append($0 == store.items) }
        try await store.insert(Note(id: "b"))
        #expect(isEqual == [true, true])
        subscription.cancel()
    }

    @Test("A subscriber without demand receives nothing, and the latest items when it requests them")
    func demand() async throws {
        let store = try await store("a")
        let subscriber = ManualSubscriber()
        store.$items.subscribe(subscriber)
        #expect(subscriber.received == [])
        subscriber.subscription?.request(.max(1))
        #expect(subscriber.received == [["a"]])
        try await store.insert(Note(id: "b"))
        try await store.insert(Note(id: "c"))
        subscriber.subscription?.request(.max(2))
        #expect(subscriber.received == [["a"], ["a", "b", "c"]])
        try await store.removeAll()
        #expect(subscriber.received == [["a"], ["a", "b", "c"], []])
        subscriber.subscription?.cancel()
    }

    @Test("A subscriber can subscribe and cancel while it receives items")
    func reentrance() async throws {
        let store = try await store("a")
        var subscriptions: [AnyCancellable] = []
        var inner: [Int] = []
        var outer: [Int] = []
        subscriptions.append(
            store.$items.sink { items in
                outer.append(items.count)
                if items.count == 2 {
                    subscriptions.append(store.$items.sink { inner.append($0.count) })
                    subscriptions.first?.cancel()
                }
            })
        try await store.insert(Note(id: "b"))
        try await store.insert(Note(id: "c"))
        #expect(outer == [1, 2])
        #expect(inner == [2, 3])
    }

    @Test("A subscriber that subscribes on another thread receives the items on the main actor")
    func otherThread() async throws {
        let store = try await store("a")
        let publisher = store.$items
        let first = await Task.detached {
            await withCheckedContinuation { continuation in
                let subscriber = Subscribers.Sink<[Note], Never>(
                    receiveCompletion: { _ in },
                    receiveValue: { items in
                        MainActor.assumeIsolated { continuation.resume(returning: items.map(\.id)) }
                    }
                )
                publisher.first().subscribe(subscriber)
            }
        }.value
        #expect(first == ["a"])
    }

    @Test("A subscription does not keep the store alive")
    func lifetime() async throws {
        weak var gone: Store<Note>?
        var subscription: AnyCancellable?
        do {
            let store = try await store("a")
            gone = store
            subscription = store.$items.sink { _ in }
        }
        #expect(gone == nil)
        subscription?.cancel()
    }

    @Test("The publisher finishes when the store is deallocated")
    func end() async throws {
        var store: Store<Note>? = try await store("a")
        var hasFinished = false
        let subscription = store?.$items.sink { _ in
            hasFinished = true
        } receiveValue: { _ in
        }
        store = nil
        #expect(try await eventually { hasFinished })
        subscription?.cancel()
    }
}
