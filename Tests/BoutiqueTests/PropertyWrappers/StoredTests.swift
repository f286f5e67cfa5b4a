import Bodega
import BodegaTesting
import Logging
import Observation
import TestSupport
import Testing

@testable import Boutique

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

extension Store where Item == Note {
    /// A named store. Only one test uses it, because tests run concurrently.
    fileprivate static let namedStore = Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)
}

@MainActor
private final class NamedController {
    @Stored(in: .namedStore) var notes
}

@MainActor
private final class Controller: ObservableObject {
    @Stored var notes: [Note]
    @Stored var others: [Note]
    @Published var query = ""

    init(notes: Store<Note>, others: Store<Note> = .previewStore(items: [])) {
        _notes = Stored(in: notes)
        _others = Stored(in: others)
    }
}

/// A controller without published properties.
@MainActor
private final class PlainController: ObservableObject {
    #if !canImport(Combine)
    // OpenCombine provides no publisher for a class without @Published properties.
    let objectWillChange = ObservableObjectPublisher()
    #endif
    @Stored var notes: [Note]

    init(_ store: Store<Note>) {
        _notes = Stored(in: store)
    }
}

@MainActor
@Observable
private final class ObservableController {
    @ObservationIgnored @Stored var notes: [Note]
    var query = ""

    init(_ store: Store<Note>) {
        _notes = Stored(in: store)
    }
}

@MainActor
private struct Row {
    @Stored var notes: [Note]

    init(_ store: Store<Note>) {
        _notes = Stored(in: store)
    }
}

#if !canImport(Combine)
/// Objects whose changes cannot be published.
private final class SilentObject: ObservableObject {}
private final class OtherSilentObject<Value>: ObservableObject {}

@Suite struct `Objects that cannot publish changes` {
    @Test func `are reported once for each type`() {
        let types = Locked<[String]>([])
        let logger = Logger { level, metadata in
            #expect(level == .warning)
            types.withLock { $0 += metadata["type"].map { ["\($0)"] } ?? [] }
        }
        for _ in 0..<20 {
            // Each property has its own.
            for _ in 0..<2 {
                let enclosing = EnclosingObject(logger: logger)
                let objects: [any ObservableObject] = [
                    SilentObject(), OtherSilentObject<Int>(), OtherSilentObject<String>(),
                ]
                for object in objects { enclosing.forward(PassthroughSubject<Void, Never>(), to: object) }
            }
        }
        #expect(types.withLock { $0 } == ["SilentObject", "OtherSilentObject<Int>", "OtherSilentObject<String>"])
    }
}
#endif

@MainActor
@Suite struct StoredTests {
    let store = Store<Note>.previewStore(items: notes("a"))

    // MARK: Items

    @Test func `A property shows the items of a named store, and projects the store`() async throws {
        let controller = NamedController()
        #expect(controller.$notes === Store.namedStore)
        try await controller.$notes.insert(notes("a", "b"))
        #expect(controller.notes == notes("a", "b"))
    }

    @Test func `A property shows the items of an injected store`() async throws {
        let controller = Controller(notes: store)
        #expect(controller.$notes === store)
        #expect(controller.notes == notes("a"))
        try await store.insert(Note(id: "b"))
        #expect(controller.notes == notes("a", "b"))
    }

    @Test func `A property of a structure has the items`() async throws {
        let row = Row(store)
        #expect(row.$notes === store)
        try await row.$notes.insert(Note(id: "b"))
        #expect(row.notes == notes("a", "b"))
    }

    @Test func `Properties of several objects can share a store`() async throws {
        let first = Controller(notes: store)
        let second = PlainController(store)
        let count = changes(of: first) { _ = first.notes }
        let other = changes(of: second) { _ = second.notes }
        try await first.$notes.remove(Note(id: "a"))
        #expect(first.notes == [] && second.notes == [])
        #expect(count.count == 1 && other.count == 1)
    }

    // MARK: Object changes

    /// Counts the announced changes of an object, starting after an access.
    private func changes<Object: ObservableObject>(of object: Object, after access: () -> Void) -> Recorder {
        access()
        return Recorder(object)
    }

    /// A counter of an object's announced changes.
    @MainActor
    private final class Recorder {
        private(set) var count = 0
        private var subscription: AnyCancellable?

        init<Object: ObservableObject>(_ object: Object) {
            subscription = object.objectWillChange.sink { [unowned self] _ in count += 1 }
        }
    }

    @Test func `An object publishes each change once`() async throws {
        let controller = Controller(notes: store)
        let changes = changes(of: controller) {
            for _ in 0..<3 { _ = (controller.notes, controller.$notes) }
        }
        try await store.insert(notes("b", "c"))
        #expect(changes.count == 1)
        _ = controller.notes
        try await store.removeAll().insert(Note(id: "d")).run()
        #expect(changes.count == 2)
        try await store.remove(Note(id: "absent"))
        #expect(changes.count == 2)
        controller.query = "d"
        #expect(changes.count == 3)
    }

    @Test func `An object publishes a change before it takes place`() async throws {
        let controller = PlainController(store)
        var seen: [[Note]] = [controller.notes]
        let subscription = controller.objectWillChange.sink { seen.append(self.store.items) }
        try await store.insert(Note(id: "b"))
        try await store.removeAll()
        #expect(seen == [notes("a"), notes("a"), notes("a", "b")])
        subscription.cancel()
    }

    @Test func `Using the projection suffices for an object to publish changes`() async throws {
        let controller = PlainController(store)
        let changes = changes(of: controller) {}
        try await store.insert(Note(id: "b"))
        #expect(changes.count == 0)
        _ = controller.$notes
        try await store.insert(Note(id: "c"))
        #expect(changes.count == 1)
    }

    @Test func `An object publishes the changes of all its stores`() async throws {
        let others = Store<Note>.previewStore(items: [])
        let controller = Controller(notes: store, others: others)
        let changes = changes(of: controller) { _ = (controller.notes, controller.others) }
        try await store.removeAll()
        try await others.insert(Note(id: "a"))
        #expect(changes.count == 2)
    }

    @Test func `An object publishes a change when its store is loaded`() async throws {
        let gate = StorageGate()
        let engine = FaultInjectingStorageEngine(WithoutLog(MemoryStorageEngine()), faults: [.hold([.scan], at: gate)])
        let controller = PlainController(loadingStore(engine))
        let changes = changes(of: controller) { _ = controller.notes }
        gate.release()
        try await controller.$notes.itemsHaveLoaded()
        #expect(changes.count == 1)
    }

    /// Creates a store in a synchronous function, so with the initializer that loads in the background.
    private func loadingStore(_ engine: any StorageEngine) -> Store<Note> {
        Store(storage: engine)
    }

    @Test func `A store does not keep an object that announces its changes alive`() async throws {
        var controller: PlainController? = PlainController(store)
        let isGone = { [weak controller] in controller == nil }
        let publisher = try #require(controller?.objectWillChange)
        var count = 0
        let subscription = publisher.sink { count += 1 }
        _ = controller?.notes
        try await store.insert(Note(id: "b"))
        #expect(count == 1)
        controller = nil
        #expect(isGone())
        try await store.insert(Note(id: "c"))
        #expect(count == 1)
        subscription.cancel()
    }

    // MARK: Observation

    @Test func `Observers of a property are notified once`() async throws {
        let controller = ObservableController(store)
        let changes = Counter()
        withObservationTracking {
            _ = controller.notes
        } onChange: {
            changes.increment()
        }
        controller.query = "a"
        #expect(changes.count == 0)
        try await store.insert(Note(id: "b"))
        try await store.insert(Note(id: "c"))
        #expect(changes.count == 1)
    }

    @Test func `Observers of a property of a structure are notified`() async throws {
        let row = Row(store)
        let changes = Counter()
        withObservationTracking {
            _ = row.notes.count
        } onChange: {
            changes.increment()
        }
        try await row.$notes.removeAll()
        #expect(changes.count == 1)
    }

    @Test func `Observers of an item of a projection are notified`() async throws {
        let controller = ObservableController(store)
        let changes = Counter()
        withObservationTracking {
            _ = controller.$notes["a"]
        } onChange: {
            changes.increment()
        }
        try await store.update(id: "a") { $0.text = "changed" }
        #expect(changes.count == 1)
    }
}
