import Boutique
import Foundation
import Observation
import TestSupport
import Testing
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// The controller of version 2.
final class NotesController: ObservableObject {
    #if !canImport(Combine)
    // OpenCombine creates a new publisher for each access of a class without @Published properties.
    let objectWillChange = ObservableObjectPublisher()
    #endif

    @Stored(in: .notesStore) var notes

    func save(_ note: Note) async throws {
        try await self.$notes.add(note)
    }

    func replaceAll(with notes: [Note]) async throws {
        try await $notes
            .removeAll()
            .add(notes)
            .run()
    }

    func clear() async throws {
        try await self.$notes.removeAll()
    }
}

/// The controller of version 2 with an injected store.
final class InjectedController: ObservableObject {
    @Stored var notes: [Note]
    @Published var query = ""
    @Published private(set) var texts: [String] = []

    private var cancellables = Set<AnyCancellable>()

    init(store: Store<Note>) {
        self._notes = Stored(in: store)
        self.$notes.$items
            .map { $0.map(\.text) }
            .sink { [weak self] in self?.texts = $0 }
            .store(in: &cancellables)
    }

    var found: [Note] {
        notes.filter { query.isEmpty || $0.text.contains(query) }
    }
}

/// The controller of version 3.
@Observable
final class ObservableController {
    @ObservationIgnored
    @Stored(in: .draftsStore) var notes

    var query = ""

    func save(_ note: Note) async throws {
        try await $notes.insert(note)
    }
}

@MainActor
@Suite struct ControllerTests {
    let milk = Note(id: "milk", text: "Buy milk")
    let tea = Note(id: "tea", text: "Buy tea")

    @Test func `A controller of version 2`() async throws {
        let controller = NotesController()
        try await controller.clear()
        _ = controller.notes
        var changes = 0
        let subscription = controller.objectWillChange.sink { changes += 1 }
        try await controller.save(milk)
        #expect(controller.notes == [milk])
        try await controller.replaceAll(with: [tea, milk])
        #expect(controller.notes == [tea, milk])
        try await controller.clear()
        #expect(controller.notes.isEmpty)
        #expect(changes == 3)
        subscription.cancel()
    }

    @Test func `A controller of version 2 with an injected store`() async throws {
        let store = Store.previewStore(items: [milk])
        let controller = InjectedController(store: store)
        #expect(controller.texts == ["Buy milk"])
        var changes = 0
        let subscription = controller.objectWillChange.sink { changes += 1 }
        controller.query = "tea"
        #expect(changes == 1)
        #expect(controller.found == [])
        try await store.add(tea)
        #expect(controller.found == [tea])
        #expect(controller.texts == ["Buy milk", "Buy tea"])
        // One for the store, one for the texts.
        #expect(changes == 3)
        subscription.cancel()
    }

    @Test func `A controller of version 3`() async throws {
        let controller = ObservableController()
        try await controller.$notes.removeAll()
        let changes = Counter()
        withObservationTracking {
            _ = controller.notes
        } onChange: {
            changes.increment()
        }
        controller.query = "milk"
        #expect(changes.count == 0)
        try await controller.save(milk)
        #expect(controller.notes == [milk])
        #expect(changes.count == 1)
    }
}
