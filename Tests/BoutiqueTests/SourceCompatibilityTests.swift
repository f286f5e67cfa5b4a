import Bodega
import BodegaTesting
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

// Code written for Boutique 2 and 3, in Swift 6, which requires `@MainActor` where Swift 5 inferred it. The target
// CompatibilityTests contains the same code in Swift 5.

private struct Chore: Codable, Sendable, Equatable, Identifiable {
    var id = UUID()
    var title: String
}

private struct Link: Codable, Sendable, Equatable {
    var url: URL
    var title: String

    init(page: String) {
        url = URL(fileURLWithPath: "/pages/\(page)")
        title = page
    }
}

extension Store where Item == Chore {
    fileprivate static let choresStore = Store<Chore>(storage: MemoryStorageEngine())
}

extension Store where Item == Link {
    fileprivate static let linksStore = Store<Link>(
        storage: MemoryStorageEngine(),
        cacheIdentifier: \.url.absoluteString
    )
}

private enum Stores {
    static let notes = Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)
    static let preview = Store.previewStore(items: [Note(id: "a")])
}

private let globalStore = Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)

/// A controller written for version 2.
@MainActor
private final class ChoresController: ObservableObject {
    // With a published property it also announces changes where Combine is not available.
    @Published var query = ""
    @Stored(in: .choresStore) var chores

    func save(_ chore: Chore) async throws {
        try await self.$chores.add(chore)
    }

    func replaceAll(with chores: [Chore]) async throws {
        try await $chores
            .removeAll()
            .add(chores)
            .run()
    }
}

/// A controller written for version 3.
@MainActor
@Observable
private final class LinksController {
    @ObservationIgnored
    @Stored(in: .linksStore) var links

    private(set) var log: [String] = []

    func save(_ link: Link) async throws {
        try await $links.insert(link)
    }

    func watch(until last: StoreEvent<Link>.Operation) async {
        for await event in $links.events {
            switch event.operation {
            case .initialized: log.append("initialized")
            case .loaded: log.append("loaded")
            case .insert: log.append("insert \(event.items.map(\.title))")
            case .remove: log.append("remove \(event.items.map(\.title))")
            }
            if event.operation == last { return }
        }
    }
}

@MainActor
@Suite struct SourceCompatibilityTests {

    @Test func `A controller written for version 2 works`() async throws {
        let controller = ChoresController()
        _ = controller.chores
        try await controller.$chores.itemsHaveLoaded()
        var changes = 0
        let subscription = controller.objectWillChange.sink { changes += 1 }
        let sweep = Chore(title: "Sweep")
        let dust = Chore(title: "Dust")
        try await controller.save(sweep)
        try await controller.replaceAll(with: [dust, sweep])
        #expect(controller.chores == [dust, sweep])
        #expect(changes == 2)
        subscription.cancel()
    }

    @Test func `A controller written for version 3 works`() async throws {
        let controller = LinksController()
        try await controller.$links.itemsHaveLoaded()
        let changes = Counter()
        withObservationTracking {
            _ = controller.links
        } onChange: {
            changes.increment()
        }
        async let watching: Void = controller.watch(until: .remove)
        while controller.log.isEmpty { await Task.yield() }
        try await controller.save(Link(page: "home"))
        try await controller.save(Link(page: "home"))
        try await controller.$links.remove(Link(page: "home"))
        await watching
        #expect(controller.log == ["loaded", #"insert ["home"]"#, #"insert ["home"]"#, #"remove ["home"]"#])
        #expect(changes.count == 1)
    }

    @Test func `Static and global stores work with the method names of version 2`() async throws {
        for store in [Stores.notes, globalStore] {
            try await store.add(Note(id: "a"))
            try await store.add(notes("b", "c"))
            try await store.remove(Note(id: "a"))
            try await store.remove(notes("b"))
            #expect(store.items == notes("c"))
            try await store.removeAll()
            #expect(store.items.isEmpty)
        }
    }

    @Test func `Chains of both versions work`() async throws {
        let store = try await Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)
        try await store.add(Note(id: "a")).add(notes("b", "c")).run()
        #expect(store.items == notes("a", "b", "c"))
        try await store.remove(Note(id: "a")).insert(Note(id: "a")).run()
        #expect(store.items == notes("b", "c", "a"))
        try await store.insert(notes("d")).remove(notes("b", "c")).run()
        #expect(store.items == notes("a", "d"))
        try await store.removeAll().insert(Note(id: "e")).run()
        #expect(store.items == notes("e"))
        try await store.insert(notes("f")).removeAll().run()
        #expect(store.items.isEmpty)
    }

    @Test func `Items can be subscribed to as a publisher`() async throws {
        let store = Store<Note>.previewStore(items: notes("a"))
        var published: [[Note]] = []
        let subscription = store.$items.filter { $0.count != 2 }.sink { published.append($0) }
        try await store.add(Note(id: "b"))
        try await store.add(Note(id: "c"))
        #expect(published == [notes("a"), notes("a", "b", "c")])
        subscription.cancel()
    }

    @Test func `Preview stores can be created for all kinds of items`() {
        #expect(Stores.preview.items == notes("a"))
        let chore = Chore(title: "Sweep")
        let link = Link(page: "home")
        #expect(Store.previewStore(items: notes("a")).items == notes("a"))
        #expect(Store.previewStore(items: [chore]).items == [chore])
        #expect(Store.previewStore(items: [link], cacheIdentifier: \.url.absoluteString).items == [link])
    }

    @Test func `Operations can be called from outside the main actor`() async throws {
        let store = Store<Note>.previewStore(items: [])
        let items = try await Task.detached {
            try await store.insert(Note(id: "a"))
            try await store.removeAll().add(notes("b")).run()
            return await store.items
        }.value
        #expect(items == notes("b"))
    }
}
