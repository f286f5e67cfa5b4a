import CodableStoreKit
import Testing

@Suite struct CustomEngineTests {

    @Test("Stores on one engine object share their observers, however often it is wrapped")
    func oneObject() throws {
        let engine = DictionaryEngine<User>()
        let events = Events<User>()
        CodableStore<User>(engine: .custom(AnyCodableStoreEngine(engine))).observeCollection { events.add($0) }
        try CodableStore<User>(engine: .custom(AnyCodableStoreEngine(engine))).save(User(1))
        let wrapped = AnyCodableStoreEngine(engine)
        try CodableStore<User>(engine: .custom(AnyCodableStoreEngine(wrapped))).save(User(2))
        try CodableStore<User>(engine: .custom(AnyCodableStoreEngine(DictionaryEngine()))).save(User(3))
        #expect(events.all == ["saved 1", "saved 2"])
    }

    @Test("A wrapped engine object is released with its last store")
    func release() throws {
        var engine: DictionaryEngine<User>? = DictionaryEngine()
        weak var released: DictionaryEngine<User>?
        released = engine
        if let engine { try CodableStore<User>(engine: .custom(AnyCodableStoreEngine(engine))).save(User(1)) }
        engine = nil
        #expect(released == nil)
    }

    /// An engine that is a value. Copies of it are separate engines.
    private struct ValueEngine: CodableStoreEngine {
        let objects = DictionaryEngine<User>()
        func get(identifier: String) throws -> User { try objects.get(identifier: identifier) }
        func getCollection() throws -> [User] { try objects.getCollection() }
        func save(_ object: User) throws -> User { try objects.save(object) }
        func delete(identifier: String) throws -> User { try objects.delete(identifier: identifier) }
    }

    @Test("Engines that are values are separate")
    func values() throws {
        let events = Events<User>()
        let store = CodableStore<User>(engine: .custom(AnyCodableStoreEngine(ValueEngine())))
        store.observeCollection { events.add($0) }
        try CodableStore<User>(engine: .custom(AnyCodableStoreEngine(ValueEngine()))).save(User(1))
        try store.save(User(2))
        #expect(events.all == ["saved 2"])
    }
}
