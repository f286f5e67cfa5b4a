@testable import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

/// Each test has its own type, because the observers of a type are notified of the changes of all tests.
private struct Planet: CodableStoreable, Sendable {
    static var codableStoreIdentifier: KeyPath<Planet, String> { \.id }
    static var codableStoreCollectionName: String { "Planets" }
    let id: String
}

private final class Moon: CodableStoreable, @unchecked Sendable {
    static var codableStoreIdentifier: KeyPath<Moon, String> { \.id }
    static var codableStoreCollectionName: String { "Moons" }
    let id: String
    init(id: String) { self.id = id }
}

private struct Comet: CodableStoreable, Sendable {
    static var codableStoreIdentifier: KeyPath<Comet, Int> { \.id }
    static var codableStoreCollectionName: String { "Comets" }
    let id: Int
}

private struct Ring: CodableStoreable, Sendable {
    static var codableStoreIdentifier: KeyPath<Ring, String> { \.id }
    static var codableStoreCollectionName: String { "Rings" }
    let id: String
}

@Suite struct `Observers of a type` {

    private let folder = TemporaryFolder()

    @Test func `receive events of all containers and engines, with the container and engine`() throws {
        let engines: [CodableStore<Planet>.Engine] = [
            .inMemory, .at(.memory()), try EngineKind.files.engine(in: folder),
            try EngineKind.sqlite.engine(in: folder),
            .custom(AnyCodableStoreEngine(DictionaryEngine<Planet>())),
        ]
        let seen = Locked<[String]>([])
        let (one, some) = (Events<Planet>(), Events<Planet>())
        let subscription = Planet.observeCollection { event in
            seen.withLock { $0.append("\(event.object.id) \(event.container.name) \(event.engine)") }
        }
        Planet(id: "0").observe { one.add($0) }
        Planet.observe(where: { $0.id > "2" }) { some.add($0) }
        var expected: [String] = []
        for (number, engine) in engines.enumerated() {
            let container = CodableStoreContainer(name: "\(number)")
            try CodableStore(container: container, engine: engine).save(Planet(id: "\(number)"))
            try Planet(id: "\(number)").delete(container: container, engine: engine)
            expected += Array(repeating: "\(number) \(number) \(engine)", count: 2)
        }
        #expect(seen.withLock { $0 } == expected)
        #expect(one.all == ["saved 0", "deleted 0"])
        #expect(some.all == ["saved 3", "deleted 3", "saved 4", "deleted 4"])
        subscription.unsubscribe()
        try Planet(id: "9").save(engine: .inMemory)
        #expect(seen.withLock { $0.count } == expected.count)
        #expect(some.all.last == "saved 9")
    }

    @Test func `receive copies of objects of a class, like other observers`() throws {
        let seen = Locked<[Moon]>([])
        let subscription = Moon.observeCollection { event in seen.withLock { $0.append(event.object) } }
        defer { subscription.unsubscribe() }
        let moon = Moon(id: "1")
        try moon.save(engine: .inMemory)
        #expect(seen.withLock { $0.map(\.id) } == ["1"])
        #expect(seen.withLock { $0.first } !== moon)
    }

    @Test func `do not retain in-memory locations and engines`() throws {
        let subscription = Ring.observeCollection { _ in }
        defer { subscription.unsubscribe() }
        weak var engine: DictionaryEngine<Ring>?
        weak var place: AnyObject?
        do {
            let new = DictionaryEngine<Ring>()
            engine = new
            try Ring(id: "1").save(engine: .custom(AnyCodableStoreEngine(new)))
            let location = CodableStoreLocation.memory()
            if case .memory(let memory) = location.place { place = memory }
            try Ring(id: "1").save(engine: .at(location))
        }
        #expect(engine == nil && place == nil)
    }

    @Test func `are called by one thread at a time, in each collection's order`() throws {
        let (inside, most, calls) = (Locked(0), Locked(0), DispatchSemaphore(value: 0))
        let seen = Locked<[String: [Int]]>([:])
        let subscription = Comet.observeCollection(on: .queue(.global())) { event in
            let count = inside.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, count) }
            seen.withLock { $0[event.container.name, default: []].append(event.object.id) }
            inside.withLock { $0 -= 1 }
            calls.signal()
        }
        let medium = CodableStoreLocation.memory()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let store = CodableStore<Comet>(container: CodableStoreContainer(name: "\(number)"), engine: .at(medium))
            for id in 0..<20 { #expect(store.save([Comet(id: id)]).allSatisfy { $0.error == nil }) }
        }
        try #require((0..<160).allSatisfy { _ in calls.wait(timeout: .now() + 60) == .success })
        #expect(seen.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<8).map { ("\($0)", Array(0..<20)) }))
        #expect(most.withLock { $0 } == 1)
        subscription.unsubscribe()
    }
}

@Suite struct `A scheduler` {

    @Test func `delivers events on its queue, in order, and none after the end of the observation`() throws {
        let queue = DispatchQueue(label: "events")
        let mark = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: mark, value: true)
        let store = CodableStore<User>(engine: .at(.memory()))
        let (events, ended) = (Events<User>(), Events<User>())
        store.observeCollection(on: .queue(queue)) { event in
            #expect(DispatchQueue.getSpecific(key: mark) == true)
            events.add(event)
        }
        let subscription = store.observeCollection(on: .queue(queue)) { ended.add($0) }
        queue.suspend()
        try store.save(User(1))
        try store.save(User(2))
        #expect(events.all.isEmpty)
        subscription.unsubscribe()
        queue.resume()
        queue.sync {}
        #expect(events.all == ["saved 1", "saved 2"])
        #expect(ended.all.isEmpty)
    }

    @Test func `can be passed to each form of observing`() throws {
        let store = CodableStore<User>(engine: .at(.memory()))
        let events = Events<User>()
        let observable = store.observable
        observable.observe(User(1), on: .immediate) { events.add($0) }
        observable.observe(identifier: "1", on: .immediate) { events.add($0) }
        observable.observe(where: { $0.id == "1" }, on: .immediate) { events.add($0) }
        observable.observeCollection(on: .immediate) { events.add($0) }
        try store.save(User(1))
        #expect(events.all == Array(repeating: "saved 1", count: 4))
    }
}
