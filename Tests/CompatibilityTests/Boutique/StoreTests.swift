import Boutique
import Foundation
import Testing

@MainActor
@Suite struct StoreTests {
    let milk = Note(id: "milk")
    let tea = Note(id: "tea")
    let rice = Note(id: "rice")
    let store = Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)

    // MARK: Operations

    @Test func `Names of version 2 for one item`() async throws {
        try await store.add(milk)
        try await store.add(tea)
        try await store.remove(milk)
        #expect(store.items == [tea])
        try await store.removeAll()
        #expect(store.items.isEmpty)
    }

    @Test func `Names of version 2 for several items`() async throws {
        try await store.add([milk, tea, rice])
        try await store.remove([milk, rice])
        #expect(store.items == [tea])
    }

    @Test func `Names of version 3 for one item and for several`() async throws {
        try await store.insert(milk)
        try await store.insert([tea, rice])
        try await store.remove(tea)
        #expect(store.items == [milk, rice])
    }

    // MARK: Chains

    @Test func `Chains of version 2`() async throws {
        try await store.add(milk).add([tea, rice]).run()
        #expect(store.items == [milk, tea, rice])
        try await store.remove(milk).add(milk).run()
        #expect(store.items == [tea, rice, milk])
        try await store.add([milk]).remove([tea, rice]).run()
        #expect(store.items == [milk])
        try await store.removeAll().add(tea).run()
        #expect(store.items == [tea])
        try await store.removeAll().add([rice, milk]).run()
        #expect(store.items == [rice, milk])
        try await store.add(tea).removeAll().run()
        #expect(store.items.isEmpty)
    }

    @Test func `Chains of version 3`() async throws {
        try await store.insert(milk).insert([tea, rice]).run()
        #expect(store.items == [milk, tea, rice])
        try await store.remove(milk).insert(milk).run()
        #expect(store.items == [tea, rice, milk])
        try await store.insert([milk]).remove([tea]).remove(rice).run()
        #expect(store.items == [milk])
        try await store.removeAll().insert([rice, tea]).run()
        #expect(store.items == [rice, tea])
        try await store.insert(milk).removeAll().run()
        #expect(store.items.isEmpty)
    }

    // MARK: Stores

    @Test func `The asynchronous initializer returns a loaded store`() async throws {
        let engine = MemoryStorageEngine()
        try await Store<Note>(storage: engine, cacheIdentifier: \.id).add([milk, tea])
        #expect(try await Store<Note>(storage: engine, cacheIdentifier: \.id).items == [milk, tea])
        #expect(try await Store<Note>(storage: engine).items == [milk, tea])
    }

    @Test func `The items of the synchronous initializer can be awaited`() async throws {
        let engine = MemoryStorageEngine()
        try await Store<Note>(storage: engine).add(milk)
        let store = makeStore(engine)
        try await store.itemsHaveLoaded()
        #expect(store.items == [milk])
    }

    /// Calls the synchronous initializer, which loads in the background.
    private func makeStore(_ engine: StorageEngine) -> Store<Note> {
        Store(storage: engine)
    }

    @Test func `Stores in an extension, in an enum and global`() async throws {
        for store in [Store.archiveStore, Stores.notes, globalStore] {
            try await store.removeAll().add(milk).run()
            #expect(store.items == [milk])
        }
    }

    @Test func `Items with UUIDs as identifiers`() async throws {
        let sweep = Chore(title: "Sweep")
        var dust = Chore(title: "Dust")
        try await Store.choresStore.removeAll().add([sweep, dust]).run()
        dust.title = "Dust the shelf"
        try await Store.choresStore.add(dust)
        #expect(Store.choresStore.items == [sweep, dust])
    }

    @Test func `Items with a nested property as identifier`() async throws {
        var home = Link(page: "home")
        try await Store.linksStore.removeAll().add([home, Link(page: "about")]).run()
        home.title = "Start"
        try await Store.linksStore.add(home)
        #expect(Store.linksStore.items.map(\.title) == ["Start", "about"])
        try await Store.linksStore.remove(home)
        #expect(Store.linksStore.items.map(\.title) == ["about"])
    }

    @Test func `Stores for previews`() async throws {
        #expect(Store<Note>.previewStore(items: [milk, tea]).items == [milk, tea])
        #expect(Previews.notes.items == [milk])
        #expect(Previews.chores.items.map(\.title) == ["Sweep"])
        #expect(globalPreview.items == [Link(page: "home")])
    }
}
