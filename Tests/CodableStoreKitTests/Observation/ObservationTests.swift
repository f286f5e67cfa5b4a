import Bodega
import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite struct ObservationTests {

    private let folder = TemporaryFolder()

    @Test(
        "Observers of the collection, an object, an identifier and a condition receive the matching events",
        arguments: EngineKind.allCases)
    func kinds(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let (all, object, identifier, condition) = (Events<User>(), Events<User>(), Events<User>(), Events<User>())
        store.observeCollection { all.add($0) }
        store.observe(User(1)) { object.add($0) }
        store.observe(identifier: "2") { identifier.add($0) }
        store.observe(where: { $0.firstName == "Ms." }) { condition.add($0) }
        try store.save(User(1))
        store.save([User(2), User(3, "Ms.")])
        try store.delete(User(1))
        store.delete(identifiers: ["3", "4", "2"])
        #expect(all.all == ["saved 1", "saved 2", "saved 3", "deleted 1", "deleted 3", "deleted 2"])
        #expect(object.all == ["saved 1", "deleted 1"])
        #expect(identifier.all == ["saved 2", "deleted 2"])
        #expect(condition.all == ["saved 3", "deleted 3"])
    }

    @Test(
        "Observers are notified of changes by any store on the same engine and container, and of no others",
        arguments: EngineKind.ofRecords)
    func places(kind: EngineKind) throws {
        let engine: CodableStore<User>.Engine = try kind.engine(in: folder)
        let events = Events<User>()
        let store = CodableStore<User>(container: "c", engine: engine)
        store.observeCollection { event in
            #expect(event.container == "c")
            events.add(event)
        }
        try CodableStore<User>(container: "c", engine: engine).save(User(1))
        try CodableStore<User>(container: "d", engine: engine).save(User(2))
        try CodableStore<User>(container: "c", engine: .at(.memory())).save(User(3))
        try User(1).delete(container: "c", engine: engine)
        #expect(events.all == ["saved 1", "deleted 1"])
    }

    @Test("Deleting the collection notifies observers of each object", arguments: EngineKind.allCases)
    func deletingAll(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        store.save([User(1), User(2)])
        let events = Events<User>()
        store.observeCollection { events.add($0) }
        try store.deleteCollection()
        #expect(events.all == ["deleted 1", "deleted 2"])
    }

    @Test("Observers are not notified of failed changes")
    func failures() throws {
        try Data().write(to: folder.file("file"))
        let store = CodableStore<User>(engine: .fileSystem(in: FileManager.Directory(url: folder.file("file"))))
        let events = Events<User>()
        store.observeCollection { events.add($0) }
        #expect(throws: StorageError.self) { try store.save(User(1)) }
        store.save([User(1)])
        #expect(events.all.isEmpty)
    }

    @Test("The observation of a collection that cannot be opened begins when it can, unless it has ended by then")
    func lateOpening() throws {
        let place = folder.file("place")
        try Data().write(to: place)
        let store = CodableStore<User>(engine: .sqlite(in: FileManager.Directory(url: place)))
        let (events, ended, endedLater) = (Events<User>(), Events<User>(), Events<User>())
        store.observeCollection { events.add($0) }
        store.observeCollection { ended.add($0) }.unsubscribe()
        let subscription = store.observeCollection { endedLater.add($0) }
        #expect(throws: StorageError.self) { try store.save(User(1)) }
        try FileManager.default.removeItem(at: place)
        try store.save(User(2))
        subscription.unsubscribe()
        try store.save(User(3))
        #expect(events.all == ["saved 2", "saved 3"])
        #expect(ended.all.isEmpty)
        #expect(endedLater.all == ["saved 2"])
    }

    @Test("A store can be used in a transaction while its first observers begin", .timeLimit(.minutes(2)))
    func lateOpeningInTransaction() async throws {
        for round in 0..<20 {
            let place = folder.file("place \(round)")
            try Data().write(to: place)
            nonisolated(unsafe) let store = CodableStore<User>(
                engine: .sqlite(in: FileManager.Directory(url: place)))
            let subscription = store.observeCollection { _ in }
            try FileManager.default.removeItem(at: place)
            nonisolated(unsafe) let purses = CodableStore<Purse>(
                engine: .sqlite(in: FileManager.Directory(url: place)))
            try purses.save(Purse(id: "a", units: 0))
            let threads = DispatchGroup()
            DispatchQueue.global().async(group: threads) {
                #expect(throws: Never.self) {
                    try purses.transaction {
                        for units in 1...30 {
                            try purses.save(Purse(id: "a", units: units))
                            _ = try store.getCollection()
                        }
                        subscription.unsubscribe()
                    }
                }
            }
            DispatchQueue.global().async(group: threads) {
                #expect(throws: Never.self) { try store.getCollection() }
            }
            await withCheckedContinuation { continuation in threads.notify(queue: .global()) { continuation.resume() } }
            #expect(try purses.get(identifier: "a").units == 30)
        }
    }

    private struct Guest: CodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<Guest, String> { \.id }
        static var codableStoreCollectionName: String { "People" }
        let id: String
    }

    private struct Person: CodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<Person, String> { \.id }
        static var codableStoreCollectionName: String { "People" }
        let id: String
        var age: Int?
    }

    @Test("Observers receive the changes that were made with another type", arguments: ["memory", "files", "sqlite"])
    func otherTypes(kind: String) throws {
        let location =
            switch kind {
            case "memory": CodableStoreLocation.memory()
            case "files": CodableStoreLocation.fileSystem(in: folder.directory)
            default: CodableStoreLocation.sqlite(in: folder.directory)
            }
        let persons = CodableStore<Person>(engine: .at(location))
        let guests = CodableStore<Guest>(engine: .at(location))
        let (seenPersons, seenGuests) = (Events<Person>(), Events<Guest>())
        try persons.save(Person(id: "0"))
        persons.observeCollection(on: .immediate) { seenPersons.add($0) }
        guests.observeCollection(on: .immediate) { seenGuests.add($0) }
        try persons.save(Person(id: "1"))
        try guests.save(Guest(id: "2"))
        try guests.delete(identifier: "1")
        try persons.deleteCollection()
        try guests.save(Guest(id: "3"))
        try persons.removeCollection()
        let expected = ["saved 1", "saved 2", "deleted 1", "deleted 0", "deleted 2", "saved 3", "deleted 3"]
        #expect(seenPersons.all == expected)
        #expect(seenGuests.all == expected)
    }

    @Test("An object that another engine deletes and saves again in one transaction has moved to the end")
    func movedObject() async throws {
        func open() throws -> CodableStore<User> {
            CodableStore(engine: .at(.sqlite(try SQLiteStorageEngine(opening: .init(url: folder.file("data"))))))
        }
        let (store, other) = (try open(), try open())
        for id in 1...3 { try store.save(User(id)) }
        let events = Events<User>()
        store.observeCollection(on: .immediate) { events.add($0) }
        try other.transaction {
            try other.save(User(2))
            try other.delete(User(1))
            try other.save(User(1))
            try other.save(User(1, "Ms."))
            try other.save(User(4))
            try other.delete(User(4))
            try other.delete(User(3))
        }
        try other.save(User(5))
        while events.all.last != "saved 5" { await Task.yield() }
        #expect(events.all == ["saved 2", "deleted 1", "saved 1", "deleted 3", "saved 5"])
    }

    @Test(
        "When an observer is called, the change can be read",
        arguments: EngineKind.ofRecords)
    func durability(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let seen = Locked<[Bool]>([])
        store.observeCollection { event in
            let exists = store.exists(event.object)
            seen.withLock { $0.append(exists) }
        }
        try store.save(User(1))
        try store.delete(User(1))
        #expect(seen.withLock { $0 } == [true, false])
    }

    @Test(
        "An observer can end its own or another observation, which takes effect immediately",
        arguments: EngineKind.allCases)
    func unsubscribingInside(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let (first, second, third) = (Events<User>(), Events<User>(), Events<User>())
        let subscriptions = Locked<[ObservableCodableStoreSubscription]>([])
        let one = store.observeCollection { event in
            first.add(event)
            for subscription in subscriptions.withLock({ $0 }) { subscription.unsubscribe() }
        }
        let two = store.observeCollection { second.add($0) }
        subscriptions.withLock { $0 = [one, two] }
        store.observeCollection { third.add($0) }
        store.save([User(1), User(2)])
        #expect(first.all == ["saved 1"])
        #expect(second.all.isEmpty)
        #expect(third.all == ["saved 1", "saved 2"])
        one.unsubscribe()
    }

    @Test(
        "An observer can save and observe, and events of its changes follow the current event",
        arguments: EngineKind.allCases)
    func savingInside(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let (events, late) = (Events<User>(), Events<User>())
        store.observe(identifier: "1") { event in
            guard case .saved = event else { return }
            store.save([User(2)])
            store.observeCollection { late.add($0) }
            store.delete(identifiers: ["1"])
        }
        store.observeCollection { events.add($0) }
        try store.save(User(1))
        #expect(events.all == ["saved 1", "saved 2", "deleted 1"])
        #expect(late.all == ["deleted 1"])
    }

    /// An engine that saves another object through a store on itself, and knows whether it is being called.
    private final class NestingEngine: DictionaryEngine<User> {
        let isInside = Locked(false)
        var store: CodableStore<User>?

        override func save(_ user: User) throws -> User {
            if user.id == "2" { return try super.save(user) }
            isInside.withLock { $0 = true }
            defer { isInside.withLock { $0 = false } }
            try store?.save(User(2))
            return try super.save(user)
        }
    }

    @Test("Observers are called outside of a custom engine's calls, even for objects that it saves within one")
    func nestedCalls() throws {
        let engine = NestingEngine()
        let store = CodableStore<User>(engine: .custom(AnyCodableStoreEngine(engine)))
        engine.store = store
        let events = Events<User>()
        store.observeCollection { [isInside = engine.isInside] event in
            #expect(!isInside.withLock { $0 })
            events.add(event)
        }
        try store.save(User(1))
        #expect(events.all == ["saved 2", "saved 1"])
        engine.store = nil
    }

    @Test("A bag ends its observations when it is released or disposed of")
    func bags() throws {
        let store = CodableStore<User>(engine: .at(.memory()))
        let (released, disposed, kept) = (Events<User>(), Events<User>(), Events<User>())
        var bag: ObserverableCodableStoreSubscriptionBag? = ObserverableCodableStoreSubscriptionBag()
        let other = ObservableCodableStoreSubscriptionBag()
        if let bag { store.observeCollection { released.add($0) }.disposed(by: bag) }
        store.observeCollection { disposed.add($0) }.disposed(by: other)
        store.observeCollection { kept.add($0) }
        try store.save(User(1))
        bag = nil
        other.dispose()
        try store.save(User(2))
        #expect(bag == nil && released.all == ["saved 1"])
        #expect(disposed.all == ["saved 1"])
        #expect(kept.all == ["saved 1", "saved 2"])
    }

    @Test(
        "Changes by many threads are reported once each, in order for each object",
        arguments: EngineKind.allCases)
    func order(kind: EngineKind) throws {
        let store = CodableStore<Note>(engine: try kind.engine(in: folder))
        let received = Locked<[Int: [String]]>([:])
        let threadsInside = Locked((now: 0, most: 0))
        store.observeCollection { event in
            threadsInside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            received.withLock { $0[event.object.id, default: []].append(event.object.text) }
            threadsInside.withLock { $0.now -= 1 }
        }
        let rounds = 15
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            for round in 0..<rounds {
                // One object that only this thread saves, and one that all threads save.
                let results = store.save([
                    Note(id: thread, text: "\(round)"), Note(id: 100, text: "\(thread)-\(round)"),
                ])
                #expect(results.allSatisfy { $0.error == nil })
            }
        }
        // All threads have returned, so all observers have been called.
        let events = received.withLock { $0 }
        for thread in 0..<6 { #expect(events[thread] == (0..<rounds).map { "\($0)" }) }
        #expect(events[100]?.count == 6 * rounds)
        #expect(try store.get(identifier: 100).text == events[100]?.last)
        #expect(threadsInside.withLock { $0.most } == 1)
    }

    @Test("A stream returns all changes from its creation on, in order, until it is released")
    func streams() async throws {
        let store = CodableStore<User>(engine: .at(.memory()))
        try store.save(User(0))
        let all = store.events()
        let one = store.events(identifier: "1")
        let some = store.events(where: { $0.firstName == "Ms." })
        let object = store.events(of: User(2))
        store.save([User(1), User(2, "Ms.")])
        try store.delete(identifier: "1")
        var iterator = all.makeAsyncIterator()
        #expect(await iterator.next()?.object == User(1))
        #expect(await iterator.next()?.object == User(2, "Ms."))
        guard case .deleted(let user, _, _) = await iterator.next() else { return #expect(Bool(false)) }
        #expect(user == User(1))
        #expect(await one.prefix(2).reduce(into: []) { $0.append($1.object) } == [User(1), User(1)])
        #expect(await some.first { _ in true }?.object == User(2, "Ms."))
        #expect(await object.first { _ in true }?.object == User(2, "Ms."))
    }

    @Test("The patterns of an event bind object, container and engine, with and without labels")
    func eventValues() throws {
        let store = CodableStore<User>(container: "c", engine: .at(.memory()))
        let seen = Locked<[String]>([])
        let subscription = store.observe(where: { $0.lastName.contains("Robot") }) { event in
            switch event {
            case .saved(object: let object, container: let container, engine: .at):
                seen.withLock { $0.append("saved \(object.id) \(container.name)") }
            case .deleted(let object, let container, _):
                seen.withLock { $0.append("deleted \(object.id) \(container.name)") }
            default: break
            }
        }
        try store.save(User(1))
        try store.delete(User(1))
        subscription.unsubscribe()
        try store.save(User(2))
        #expect(seen.withLock { $0 } == ["saved 1 c", "deleted 1 c"])
    }
}
