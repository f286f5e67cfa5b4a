import Boutique
import Foundation
import Testing

/// A store that is used off the main actor, with an `await` wherever Boutique needs one. The compiler warns if one of
/// them is superfluous.
@Suite struct BackgroundTests {
    let milk = Note(id: "milk")
    let tea = Note(id: "tea")

    @Test func `Reading, operations and chains`() async throws {
        let store = Store<Note>.previewStore(items: [milk])
        try await store.itemsHaveLoaded()
        var items = await store.items
        try await store.remove(items).insert([tea]).run()
        items = await store.items
        #expect(items == [tea])

        let operation: Store<Note>.Operation = try await store.removeAll()
        _ = try await operation.insert(milk)
        _ = try await operation.add([tea]).remove(tea)
        try await operation.run()
        items = await store.items
        #expect(items == [milk])
    }

    @Test func `Events`() async throws {
        let store = try await Store<Note>(storage: MemoryStorageEngine(), cacheIdentifier: \.id)
        var operations: [StoreEvent<Note>.Operation] = []
        for await event in await store.events {
            operations.append(event.operation)
            if event.operation == .loaded { try await store.insert(milk) }
            if event.operation == .insert { break }
        }
        #expect(operations == [.loaded, .insert])
    }
}
