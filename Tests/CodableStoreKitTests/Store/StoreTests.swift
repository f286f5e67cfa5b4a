import CodableStoreKit
import Foundation
import TestSupport
import Testing

@Suite struct StoreTests {

    private let folder = TemporaryFolder()

    @Test(
        "A saved object is found by its identifier, by a condition and in the collection",
        arguments: EngineKind.allCases)
    func savingAndFinding(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        #expect(try store.getCollection().isEmpty)
        #expect(!store.exists(identifier: "1"))

        let saved = try store.save(User(1))
        #expect(saved == User(1))
        try store.save(User(2, "Ms."))

        #expect(try store.get(identifier: "1") == User(1))
        #expect(try store.getCollection() == [User(1), User(2, "Ms.")])
        #expect(try store.get { $0.firstName == "Ms." } == [User(2, "Ms.")])
        #expect(try store.get(where: { $0.firstName == "Dr." }).isEmpty)
        #expect(try store.first { $0.lastName == "Robot" } == User(1))
        #expect(try store.first { $0.lastName == "Human" } == nil)
        #expect(store.exists(User(1)) && store.exists(identifier: "2"))
        #expect(try store.fetchExistence(identifier: "2"))
        #expect(try !store.fetchExistence(identifier: "3"))
    }

    @Test("Saving an object again replaces it and keeps its position in the collection", arguments: EngineKind.allCases)
    func replacing(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        for number in [3, 1, 2] { try store.save(User(number)) }
        try store.save(User(3, "Dr."))
        #expect(try store.getCollection() == [User(3, "Dr."), User(1), User(2)])
    }

    @Test("Deleting returns the stored object, and throws an error if there is none", arguments: EngineKind.allCases)
    func deleting(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        #expect(throws: StorageError.self) { try store.delete(identifier: "1") }
        try store.save(User(1, "Dr."))
        let deleted = try store.delete(User(1, "another name"))
        #expect(deleted == User(1, "Dr."))
        #expect(try store.getCollection().isEmpty)
        for operation in [{ _ = try store.get(identifier: "1") }, { _ = try store.delete(User(1)) }] {
            #expect { try operation() } throws: { ($0 as? StorageError)?.code == .notFound }
        }
    }

    @Test("The array forms return a result per object", arguments: EngineKind.allCases)
    func arrays(kind: EngineKind) throws {
        let store = CodableStore<Picky>(engine: try kind.engine(in: folder))
        #expect(store.save([]).isEmpty && store.delete(identifiers: []).isEmpty)
        let objects = [Picky(id: 1), Picky(id: 2, isWritable: false), Picky(id: 3)]
        if kind != .custom {
            let saved = store.save(objects)
            #expect(saved.map { $0.object?.id } == [1, nil, 3])
            #expect((saved[1].error as? StorageError)?.code == .encodingFailed)
            guard case .failure(2, _) = saved[1] else {
                return #expect(Bool(false), "the failure has another identifier")
            }
        } else {
            #expect(store.save([objects[0], objects[2]]).map { $0.object?.id } == [1, 3])
        }
        #expect(try store.getCollection().map(\.id) == [1, 3])
        let deleted = store.delete(identifiers: [3, 4, 3])
        #expect(deleted.map { $0.object?.id } == [3, nil, nil])
        #expect(deleted.dropFirst().allSatisfy { ($0.error as? StorageError)?.code == .notFound })
        #expect(store.delete([Picky(id: 1)]).map { $0.object?.id } == [1])
        #expect(try store.getCollection().isEmpty)
    }

    @Test("If an array has several objects with one identifier, the last one remains", arguments: EngineKind.allCases)
    func duplicates(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let results = store.save([User(1, "a"), User(2), User(1, "b")])
        #expect(results.allSatisfy { $0.error == nil })
        #expect(try store.getCollection() == [User(1, "b"), User(2)])
    }

    @Test("Deleting the collection deletes all of its objects and no others", arguments: EngineKind.ofRecords)
    func deletingAll(kind: EngineKind) throws {
        let engine: CodableStore<User>.Engine = try kind.engine(in: folder)
        let store = CodableStore<User>(engine: engine)
        let other = CodableStore<User>(container: "other", engine: engine)
        for store in [store, other] { store.save((1...40).map { User($0) }) }
        let results = try store.deleteCollection()
        #expect(results.compactMap(\.object) == (1...40).map { User($0) })
        #expect(try store.getCollection().isEmpty)
        #expect(try store.deleteCollection().isEmpty)
        #expect(try other.getCollection().count == 40)
    }

    @Test("A saved object is found by another store, and by another engine on the folder", arguments: EngineKind.onDisk)
    func sharing(kind: EngineKind) throws {
        let engine: CodableStore<User>.Engine = try kind.engine(in: folder)
        try CodableStore<User>(engine: engine).save(User(1))
        #expect(try CodableStore<User>(engine: try kind.engine(in: folder)).getCollection() == [User(1)])
    }

    @Test("Different URLs of one folder are the same location", arguments: EngineKind.onDisk)
    func placeSpellings(kind: EngineKind) throws {
        func store(_ url: URL) -> CodableStore<User> {
            let directory = FileManager.Directory(url: url)
            return CodableStore(engine: kind == .sqlite ? .sqlite(in: directory) : .fileSystem(in: directory))
        }
        let events = Events<User>()
        store(URL(fileURLWithPath: folder.path, isDirectory: true)).observeCollection { events.add($0) }
        try store(URL(fileURLWithPath: folder.path, isDirectory: false)).save(User(1))
        try store(URL(fileURLWithPath: folder.path + "/x/../")).save(User(2))
        #expect(events.all == ["saved 1", "saved 2"])
    }

    @Test("Looking for and deleting missing objects does not create a folder")
    func nothingMade() throws {
        let store = CodableStore<User>(engine: .fileSystem(in: folder.directory))
        #expect(try store.getCollection().isEmpty && store.deleteCollection().isEmpty)
        #expect(!store.exists(identifier: "1"))
        #expect(store.delete([User(1)])[0].error != nil)
        store.observeCollection { _ in }
        #expect(try folder.names().isEmpty)
    }

    @Test("After the folder is removed, a new store starts empty", arguments: EngineKind.onDisk)
    func removedFolder(kind: EngineKind) throws {
        let place = FileManager.Directory(url: folder.file("place"))
        func store() -> CodableStore<User> {
            CodableStore(engine: kind == .sqlite ? .sqlite(in: place) : .fileSystem(in: place))
        }
        try store().save(User(1))
        try FileManager.default.removeItem(at: place.url)
        #expect(try store().getCollection().isEmpty)
        try store().save(User(2))
        #expect(try store().getCollection() == [User(2)])
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.url.path).isEmpty == false)
    }

    @Test("Copying into other containers and engines copies all objects, or those that satisfy a condition")
    func copying() throws {
        let files = CodableStore<User>(engine: .fileSystem(in: folder.directory))
        files.save((1...4).map { User($0) })
        let container = CodableStoreContainer(name: "Copies")
        let copied = try files.copy(toContainer: container)
        #expect(copied.compactMap(\.object) == (1...4).map { User($0) })
        #expect(try CodableStore<User>(container: container, engine: files.engine).getCollection().count == 4)

        let memory = CodableStoreLocation.memory()
        try files.copy(toContainer: "x", engine: .at(memory), where: { $0.id > "2" })
        #expect(try CodableStore<User>(container: "x", engine: .at(memory)).getCollection() == [User(3), User(4)])

        let sqlite = CodableStore<User>(engine: .sqlite(in: folder.directory))
        try files.copyable.copy(toStore: sqlite, where: { $0.id == "1" })
        #expect(try sqlite.getCollection() == [User(1)])
    }

    @Test("The methods of types and arrays use the given container and engine")
    func conveniences() throws {
        let memory = CodableStore<User>.Engine.at(.memory())
        try User(1).save(container: "c", engine: memory)
        #expect(User(1).exists(container: "c", engine: memory))
        #expect(!User(1).exists(engine: memory))
        #expect(try User.get(identifier: "1", container: "c", engine: memory) == User(1))
        [User(2), User(3)].save(engine: memory)
        #expect(try User.getCollection(engine: memory) == [User(2), User(3)])
        #expect(try User.get(where: { $0.id == "3" }, engine: memory) == [User(3)])
        #expect(try User.first(where: { $0.id == "3" }, engine: memory) == User(3))
        #expect(User.exists(identifier: "3", engine: memory))
        try User(3).delete(engine: memory)
        try User.delete(identifier: "1", container: "c", engine: memory)
        #expect([User(2), User(3)].delete(engine: memory).map { $0.object } == [User(2), nil])
        #expect(try User.deleteCollection(engine: memory).isEmpty)
    }

    @Test("In-memory stores share their objects, unless they have a separate memory")
    func memories() throws {
        try Note(id: 1, text: "shared").save(engine: .inMemory)
        #expect(try CodableStore<Note>(engine: .inMemory).getCollection() == [Note(id: 1, text: "shared")])
        #expect(try CodableStore<Note>(engine: .at(.memory())).getCollection().isEmpty)
    }

    @Test("Each view offers its operations", arguments: [EngineKind.files, .memory])
    func views(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        let writeable: any WriteableCodableStore<User> = store.writable
        try writeable.save(User(1))
        writeable.save([User(2)])
        let readable: any ReadableCodableStore<User> = store.readable
        #expect(try readable.getCollection() == [User(1), User(2)])
        #expect(readable.exists(User(1)))
        let events = Events<User>()
        let observable: any ObserverableCodableStore<User> = store.observable
        observable.observeCollection { events.add($0) }
        try writeable.delete(identifier: "1")
        #expect(events.all == ["deleted 1"])
        let copyable: any CopyableCodableStore<User> = store.copyable
        try copyable.copy(toContainer: "c", engine: nil, where: nil)
        #expect(try CodableStore<User>(container: "c", engine: store.engine).getCollection() == [User(2)])
    }

    @Test("A custom coder is used, and plain property list files are read")
    func ownCoder() throws {
        let store = CodableStore<Listed>(engine: .fileSystem(in: folder.directory))
        try store.save(Listed(id: "a", number: 1))
        let file = folder.file("Default/Listed/a")
        let decoded = try PropertyListDecoder().decode(Listed.self, from: Data(contentsOf: file))
        #expect(decoded == Listed(id: "a", number: 1))
        try PropertyListEncoder().encode(Listed(id: "b", number: 2)).write(to: folder.file("Default/Listed/b"))
        #expect(try store.get(identifier: "b") == Listed(id: "b", number: 2))
    }

    @Test("Operations on an unusable location throw the cause and change nothing")
    func unusablePlaces() throws {
        try Data("no folder".utf8).write(to: folder.file("file"))
        let place = FileManager.Directory(url: folder.file("file"))
        for engine in [CodableStore<User>.Engine.fileSystem(in: place), .sqlite(in: place)] {
            let store = CodableStore<User>(engine: engine)
            #expect { try store.save(User(1)) } throws: { ($0 as? StorageError)?.code == .cannotOpen }
            #expect(store.save([User(1), User(2)]).allSatisfy { ($0.error as? StorageError)?.code == .cannotOpen })
            #expect(throws: StorageError.self) { try store.getCollection() }
            #expect(throws: StorageError.self) { try store.fetchExistence(identifier: "1") }
            #expect(!store.exists(identifier: "1"))
        }
        #expect(try Data(contentsOf: folder.file("file")) == Data("no folder".utf8))
    }
}
