import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// API of CodableStoreKit of July 2018 that its README does not mention.
@Suite struct InterfaceTests {
    let folder = TemporaryFolder()
    let container = CodableStoreContainer(name: UUID().uuidString)
    let user = User(id: "42", firstName: "Mr.", lastName: "Robot")

    // MARK: Observing

    @Test func `Observers can be passed with the label handler`() throws {
        let store = CodableStore<User>(container: container, engine: .inMemory)
        let calls = Counter()
        let handler: CodableStore<User>.ObserveHandler = { _ in calls.increment() }
        let bag = ObserverableCodableStoreSubscriptionBag()
        store.observe(user, handler: handler).disposed(by: bag)
        store.observe(identifier: "42", handler: handler).disposed(by: bag)
        store.observe(where: { $0.id == "42" }, handler: handler).disposed(by: bag)
        store.observeCollection(handler: handler).disposed(by: bag)
        store.observable.observe(identifier: "42", handler: handler).disposed(by: bag)
        store.observe(identifier: "42") { _ in calls.increment() }.disposed(by: bag)
        try store.save(user)
        bag.dispose()
        #expect(calls.count == 6)
    }

    @Test func `A bag reports whether it is empty`() {
        let bag = ObserverableCodableStoreSubscriptionBag()
        #expect(bag.isEmpty)
        CodableStore<User>(container: container, engine: .inMemory).observeCollection { _ in }.disposed(by: bag)
        #expect(!bag.isEmpty)
    }

    @Test func `A subscription can be stored as a protocol, and a bag takes custom subscriptions`() {
        let store = CodableStore<User>(container: container, engine: .inMemory)
        var kept: ObserverableCodableStoreSubscription? = store.observeCollection { _ in }
        var subscriptions: [ObserverableCodableStoreSubscription] = []
        if let subscription = kept { subscriptions.append(subscription) }
        let timer = Timer()
        subscriptions.append(timer)
        kept = nil
        do {
            let bag = ObserverableCodableStoreSubscriptionBag()
            subscriptions.forEach { $0.disposed(by: bag) }
            bag.add(timer)
            #expect(timer.ends == 0)
        }
        #expect(timer.ends == 2)
    }

    private class Timer: ObserverableCodableStoreSubscription {
        var ends = 0
        func unsubscribe() { ends += 1 }
    }

    /// Code that only has to compile, because it would observe objects in the user's documents folder.
    private func observeTypes() -> [Any] {
        let handler: User.ObserveHandler = { print($0.object.id) }
        return [
            user.observe(handler: handler), User.observe(identifier: "42", handler: handler),
            User.observe(where: { $0.lastName == "Robot" }, handler: handler), User.observeCollection(handler: handler),
            user.observe { print($0.object.id) }, User.observeCollection { print($0.object.id) },
        ]
    }

    // MARK: Copying

    @Test func `Objects are copied into a container in an engine`() throws {
        let store = CodableStore<User>(engine: .fileSystem(in: folder.directory))
        try store.save(user)
        let filter: ((User) -> Bool)? = { $0.id == "42" }
        let copied = try store.copy(toContainer: container, inEngine: .inMemory, where: filter)
        #expect(copied.count == 1)
        let other: CodableStoreContainer = "\(container.name)-2"
        try store.copyable.copy(toContainer: other, inEngine: .inMemory, where: nil)
        try user.copy(toContainer: "\(container.name)-3", inEngine: .inMemory)
        for suffix in ["", "-2", "-3"] {
            let copies = CodableStore<User>(
                container: CodableStoreContainer(name: container.name + suffix), engine: .inMemory)
            #expect(copies.exists(user))
        }
    }

    // MARK: Coders

    @Test func `A coder is a pair, and its encoder has a file extension`() {
        let coders: [Coder] = [(JSONEncoder(), JSONDecoder()), (PropertyListEncoder(), PropertyListDecoder())]
        #expect(coders.map { $0.encoder.fileExtension } == ["json", "plist"])
        #expect(User.codableStoreCoder.encoder.fileExtension == "json")
        #expect(TextEncoder().fileExtension == "txt")
    }

    // MARK: Engines

    @Test func `An engine can conform to its two halves separately`() throws {
        let engine = HalvedEngine<User>()
        let store = CodableStore<User>(engine: .custom(AnyCodableStoreEngine(engine)))
        try store.save(user)
        #expect(try read(engine).count == 1)
        try write(user, to: engine)
        #expect(store.exists(user))
    }

    private func read<Engine: ReadableCodableStoreEngine>(_ engine: Engine) throws -> [Engine.Object] {
        try engine.getCollection()
    }

    private func write<Engine: WriteableCodableStoreEngine>(_ object: Engine.Object, to engine: Engine) throws {
        try engine.save(object)
    }

    // MARK: Containers

    @Test func `A container can be created from a literal, described, changed and encoded`() throws {
        let number: CodableStoreContainer = 7
        #expect(number.name == "7")
        var changed: CodableStoreContainer = "a"
        changed.name = "b"
        #expect(changed == "b")
        #expect("\(changed)" == "b-CodableStoreContainer")
        #expect(CodableStoreContainer().name == "Default")
        let encoded = try JSONEncoder().encode(changed)
        #expect(String(decoding: encoded, as: UTF8.self) == #"{"name":"b"}"#)
        #expect(try JSONDecoder().decode(CodableStoreContainer.self, from: encoded) == "b")
    }

    // MARK: Subclasses

    @Test func `A store can be subclassed`() throws {
        let store = CountingStore(container: container, engine: .inMemory)
        try store.save(user)
        #expect(try store.readable.getCollection().count == 1)
        #expect(store.reads == 1)
        #expect(try store.robots().count == 1)
    }
}

// The compiler warns without the explicit @unchecked Sendable.
private final class CountingStore: CodableStore<User>, @unchecked Sendable {
    var reads = 0

    override var readable: AnyReadableCodableStore<User> {
        reads += 1
        return super.readable
    }

    func robots() throws -> [User] {
        try get(where: { $0.lastName == "Robot" })
    }
}

private struct TextEncoder: Encoderable {
    var fileExtension: String { "txt" }
    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data("\(value)".utf8) }
}

private class HalvedEngine<Object: BaseCodableStoreable> {
    var objects: [Object.ID: Object] = [:]
}

extension HalvedEngine: ReadableCodableStoreEngine {
    func get(identifier: Object.ID) throws -> Object {
        guard let object = objects[identifier] else { throw CocoaError(.fileNoSuchFile) }
        return object
    }

    func getCollection() throws -> [Object] {
        Array(objects.values)
    }
}

extension HalvedEngine: WriteableCodableStoreEngine {
    func save(_ object: Object) throws -> Object {
        objects[object[keyPath: Object.codableStoreIdentifier]] = object
        return object
    }

    func delete(identifier: Object.ID) throws -> Object {
        let object = try get(identifier: identifier)
        objects[identifier] = nil
        return object
    }
}
