import Boutique
import Foundation
import Testing

/// Events of version 3, which can be encoded and stored.
@MainActor
@Suite struct EventTests {
    let milk = Note(id: "milk")

    @Test func `An encoded event can be decoded`() async throws {
        let store = Store<Note>.previewStore(items: [])
        var events = store.events.makeAsyncIterator()
        _ = await events.next()
        try await store.insert(milk)
        let event = try #require(await events.next())
        let copy = try JSONDecoder().decode(StoreEvent<Note>.self, from: JSONEncoder().encode(event))
        #expect(copy.operation == .insert)
        #expect(copy.items == [milk])
        #expect(copy.insertedIDs == ["milk"])
    }

    @Test func `An event that Boutique has encoded can be decoded`() throws {
        let data = Data(#"{"operation":{"remove":{}},"items":[{"id":"milk","text":""}]}"#.utf8)
        let event = try JSONDecoder().decode(StoreEvent<Note>.self, from: data)
        #expect(event.operation == .remove)
        #expect(event.items == [milk])
        #expect(event.removedIDs.isEmpty)
    }

    @Test func `An event can be stored like any item`() {
        func keep<Item: StorableItem>(_ item: Item) -> Bool { true }
        #expect(keep(StoreEvent<Note>.Operation.loaded))
    }

    // MARK: Retained operations

    @Test func `An operation is an object and runs once`() async throws {
        let store = Store<Note>.previewStore(items: [])
        let operation: Store<Note>.Operation = try await store.insert(milk)
        _ = try await operation.insert([Note(id: "tea")])
        try await operation.run()
        #expect(store.items.map(\.id) == ["milk", "tea"])
        try await store.removeAll()
        try await operation.run()
        #expect(store.items.isEmpty)
    }
}
