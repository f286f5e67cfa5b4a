import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite struct ObservationTests {

    private let folder = TemporaryFolder()

    @Test(
        "Observers of the collection, an object, an identifier and a condition are told what concerns them",
        arguments: Medium.allCases)
    func kinds(medium: Medium) throws {
        let store = CodableStore<User>(engine: try medium.engine(in: folder))
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
        "Changes through any store on the same engine and container are told, and no others",
        arguments: Medium.ofRecords)
    func places(medium: Medium) throws {
        let engine: CodableStore<User>.Engine = try medium.engine(in: folder)
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

    @Test("Deleting the collection tells of each object", arguments: Medium.allCases)
    func deletingAll(medium: Medium) throws {
        let store = CodableStore<User>(engine: try medium.engine(in: folder))
        store.save([User(1), User(2)])
        let events = Events<User>()
        store.observeCollection { events.add($0) }
        try store.deleteCollection()
        #expect(events.all == ["deleted 1", "deleted 2"])
    }

    @Test("What fails is not told")
    func failures() throws {
        try Data().write(to: folder.file("file"))
        let store = CodableStore<User>(engine: .fileSystem(in: FileManager.Directory(url: folder.file("file"))))
        let events = Events<User>()
        store.observeCollection { events.add($0) }
        #expect(throws: StorageError.self) { try store.save(User(1)) }
        store.save([User(1)])
        #expect(events.all.isEmpty)
    }

    @Test("A collection that can't be opened at first is observed from when it can, unless that was ended meanwhile")
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

    @Test(
        "When an observer is called, the change can be read, also by another process's reading",
        arguments: Medium.ofRecords)
    func durability(medium: Medium) throws {
        let store = CodableStore<User>(engine: try medium.engine(in: folder))
        let seen = Locked<[Bool]>([])
        store.observeCollection { event in
            let isThere = store.exists(event.object)
            seen.withLock { $0.append(isThere) }
        }
        try store.save(User(1))
        try store.delete(User(1))
        #expect(seen.withLock { $0 } == [true, false])
    }

    @Test(
        "Ending an observation within a callback, one's own or another's, is safe and takes effect at once",
        arguments: Medium.allCases)
    func unsubscribingInside(medium: Medium) throws {
        let store = CodableStore<User>(engine: try medium.engine(in: folder))
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
        "An observer may save and observe, and what it saves is told after what it was told of",
        arguments: Medium.allCases)
    func savingInside(medium: Medium) throws {
        let store = CodableStore<User>(engine: try medium.engine(in: folder))
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

    /// An engine that saves another object through a store that stands on it, and knows whether it is being called.
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

    @Test("Observers are called outside of a custom engine's calls, also of what it saves within one")
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

    @Test("A bag ends its observations when it is released, or when it is told to")
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
        "Changes by many threads are told once each, in the order in which they happened to each object",
        arguments: Medium.allCases)
    func order(medium: Medium) throws {
        let store = CodableStore<Note>(engine: try medium.engine(in: folder))
        let told = Locked<[Int: [String]]>([:])
        let threadsInside = Locked((now: 0, most: 0))
        store.observeCollection { event in
            threadsInside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            told.withLock { $0[event.object.id, default: []].append(event.object.text) }
            threadsInside.withLock { $0.now -= 1 }
        }
        let rounds = 15
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            for round in 0..<rounds {
                // One object of the thread's own, and one that all of them save.
                let results = store.save([
                    Note(id: thread, text: "\(round)"), Note(id: 100, text: "\(thread)-\(round)"),
                ])
                #expect(results.allSatisfy { $0.error == nil })
            }
        }
        // Some other thread may still be calling observers for the one that returned last; saving once more waits its turn
        // behind the changes, and the last delivery has ended when all threads have.
        let events = told.withLock { $0 }
        for thread in 0..<6 { #expect(events[thread] == (0..<rounds).map { "\($0)" }) }
        #expect(events[100]?.count == 6 * rounds)
        #expect(try store.get(identifier: 100).text == events[100]?.last)
        #expect(threadsInside.withLock { $0.most } == 1)
    }

    @Test("Observation as a stream: everything from the call on, in order, until the stream is dropped")
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

    @Test("The two-value and three-value forms of an event's pattern tell object, container and engine")
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
