import Boutique
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// A CodableStore and a Boutique store on one SQLite engine.
@MainActor
@Suite struct BridgeTests {

    /// An object that both stores represent in the same way: its identifier is a string, and its record is JSON.
    private struct Chore: CodableStoreable, Identifiable, Equatable, Sendable {
        let id: String
        var title: String

        static var codableStoreIdentifier: KeyPath<Chore, String> { \.id }
        static var codableStoreCollectionName: String { "Chores" }
    }

    private let folder = TemporaryFolder()

    private func engine() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    @Test("Each store reads what the other has written")
    func reading() async throws {
        let engine = try engine()
        let sync = CodableStore<Chore>(engine: .sqlite(engine))
        try sync.save(Chore(id: "1", title: "saved"))
        let store = try await Store<Chore>(storage: engine)
        #expect(store.items == [Chore(id: "1", title: "saved")])
        try await store.insert(Chore(id: "2", title: "inserted"))
        #expect(try sync.getCollection() == [Chore(id: "1", title: "saved"), Chore(id: "2", title: "inserted")])
        try await store.remove(id: "1")
        #expect(!sync.exists(identifier: "1"))
        let closed = engine
        try await closed.close()
    }

    @Test("A Boutique store shows what a CodableStore saves and deletes")
    func storeFollows() async throws {
        let engine = try engine()
        let store = try await Store<Chore>(storage: engine)
        var events = store.events.makeAsyncIterator()
        #expect(await events.next()?.operation == .loaded)
        let sync = CodableStore<Chore>(engine: .sqlite(engine))
        try sync.save(Chore(id: "1", title: "a"))
        #expect(await events.next()?.insertedIDs == ["1"])
        sync.save([Chore(id: "2", title: "b"), Chore(id: "1", title: "c")])
        let change = await events.next()
        #expect(change?.insertedIDs == ["2"] && change?.updatedIDs == ["1"])
        #expect(store.items == [Chore(id: "1", title: "c"), Chore(id: "2", title: "b")])
        try sync.delete(identifier: "1")
        #expect(await events.next()?.removedIDs == ["1"])
        try sync.deleteCollection()
        #expect(await events.next()?.removedIDs == ["2"])
        #expect(store.items.isEmpty)
    }

    @Test("Observers of a CodableStore are notified of a Boutique store's changes, once and in order")
    func observersFollow() async throws {
        let engine = try engine()
        let store = try await Store<Chore>(storage: engine)
        let sync = CodableStore<Chore>(engine: .sqlite(engine))
        var events = sync.events().map { event in
            switch event {
            case .saved(let chore, _, _): "saved \(chore.id) \(chore.title)"
            case .deleted(let chore, _, _): "deleted \(chore.id) \(chore.title)"
            }
        }.makeAsyncIterator()
        try await store.insert(Chore(id: "1", title: "a"))
        try sync.save(Chore(id: "2", title: "b"))
        for event in ["saved 1 a", "saved 2 b"] { #expect(await events.next() == event) }
        // Without waiting, only the last change of each object would be reported.
        try await store.insert([Chore(id: "1", title: "c"), Chore(id: "3", title: "d")])
        for event in ["saved 1 c", "saved 3 d"] { #expect(await events.next() == event) }
        try await store.remove(id: "1").insert(Chore(id: "4", title: "e")).run()
        for event in ["deleted 1 c", "saved 4 e"] { #expect(await events.next() == event) }
        try await store.removeAll()
        var removed: Set<String> = []
        for _ in 0..<3 { if let event = await events.next() { removed.insert(event) } }
        #expect(removed == ["deleted 2 b", "deleted 3 d", "deleted 4 e"])
        try await store.insert(Chore(id: "5", title: "f"))
        #expect(await events.next() == "saved 5 f")
    }

    @Test("An observation of a shared engine continues after its store is released, and ends with the subscription")
    func observationsStay() async throws {
        let engine = try engine()
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let subscription = CodableStore<Chore>(engine: .sqlite(engine)).observeCollection {
            continuation.yield($0.object.id)
        }
        let store = try await Store<Chore>(storage: engine)
        try await store.insert(Chore(id: "1", title: ""))
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == "1")
        subscription.unsubscribe()
        try await store.insert(Chore(id: "2", title: ""))
        try CodableStore<Chore>(engine: .sqlite(engine)).save(Chore(id: "3", title: ""))
        continuation.finish()
        #expect(await iterator.next() == nil)
    }

    @Test("Other containers and named collections of an engine are separate from its own collection")
    func apart() async throws {
        let engine = try engine()
        let own = CodableStore<Chore>(engine: .sqlite(engine))
        let container = CodableStore<Chore>(container: "c", engine: .sqlite(engine))
        let named = CodableStore<Chore>(engine: .sqlite(try engine.collection(named: "n")))
        try own.save(Chore(id: "1", title: ""))
        try container.save(Chore(id: "2", title: ""))
        try named.save(Chore(id: "3", title: ""))
        #expect(try own.getCollection().map(\.id) == ["1"])
        #expect(try container.getCollection().map(\.id) == ["2"])
        #expect(try named.getCollection().map(\.id) == ["3"])
        let again = CodableStore<Chore>(engine: .sqlite(try engine.collection(named: "n")))
        let events = Events<Chore>()
        again.observeCollection { events.add($0) }
        try named.delete(identifier: "3")
        #expect(events.all == ["deleted 3"])
    }

    @Test("Using an engine that holds objects of another type throws an error")
    func secondType() throws {
        let engine = try engine()
        let tasks = CodableStore<Chore>(engine: .sqlite(engine))
        try tasks.save(Chore(id: "1", title: ""))
        let users = CodableStore<User>(engine: .sqlite(engine))
        #expect { try users.save(User(1)) } throws: { ($0 as? StorageError)?.code == .ambiguousCollection }
        #expect(try tasks.getCollection().count == 1)
    }

    @Test("Observers are notified once of changes made through another engine on the file")
    func anotherEngine() async throws {
        let sync = CodableStore<Chore>(engine: .sqlite(try engine()))
        let store = try await Store<Chore>(storage: try engine())
        var events = sync.events().makeAsyncIterator()
        try await store.insert(Chore(id: "1", title: "a"))
        guard case .saved(let saved, _, _)? = await events.next() else { throw StorageError(.damaged, "No event") }
        #expect(saved.title == "a")
        try sync.save(Chore(id: "1", title: "b"))
        guard case .saved(let own, _, _)? = await events.next() else { throw StorageError(.damaged, "No event") }
        #expect(own.title == "b")
        try await store.remove(id: "1")
        guard case .deleted(let deleted, _, _)? = await events.next() else { throw StorageError(.damaged, "No event") }
        #expect(deleted.title == "b")
    }
}
