import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// A folder or file that is removed or replaced while stores use it.
@Suite struct RemovedPlaceTests {

    private let folder = TemporaryFolder()
    private var place: FileManager.Directory { FileManager.Directory(url: folder.file("place")) }
    private var database: URL { place.url.appendingPathComponent("CodableStoreKit.sqlite3") }

    private func engine<Object>(_ kind: EngineKind, for type: Object.Type = Object.self) -> CodableStore<Object>.Engine
    {
        kind == .sqlite ? .sqlite(in: place) : .fileSystem(in: place)
    }

    @Test(
        "After its folder is removed, a store starts empty, and its observers are notified of further changes",
        arguments: EngineKind.onDisk)
    func removed(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: engine(kind))
        let notes = CodableStore<Note>(engine: engine(kind))
        let events = Events<User>()
        store.observeCollection { events.add($0) }
        try store.save(User(1))
        try notes.save(Note(id: 1, text: ""))
        try FileManager.default.removeItem(at: place.url)

        #expect(try store.getCollection().isEmpty)
        #expect(!store.exists(identifier: "1"))
        #expect(throws: StorageError.self) { try store.get(identifier: "1") }
        try store.save(User(2))
        try notes.save(Note(id: 2, text: ""))
        #expect(try store.getCollection() == [User(2)])
        #expect(try notes.getCollection().map(\.id) == [2])
        #expect(events.all == ["saved 1", "saved 2"])
    }

    @Test("Objects saved after the folder was removed are found by the next process", arguments: ["files", "sqlite"])
    func durable(kind: String) async throws {
        let store = CodableStore<Letter>(engine: engine(kind == "sqlite" ? .sqlite : .files))
        try store.save(Letter(id: "1"))
        try FileManager.default.removeItem(at: place.url)
        try store.save(Letter(id: "2"))
        #expect(await (try Child("list-letters", kind, place.url.path)).lines() == ["2"])
    }

    @Test("A database that replaces the open one is used from then on")
    func replaced() throws {
        let other = FileManager.Directory(url: folder.file("other"))
        try CodableStore<User>(engine: .sqlite(in: other)).save(User(1))
        let store = CodableStore<User>(engine: .sqlite(in: place))
        try store.save(User(2))
        try FileManager.default.removeItem(at: place.url)
        try FileManager.default.moveItem(at: other.url, to: place.url)
        #expect(try store.getCollection() == [User(1)])
        try store.save(User(3))
        #expect(try store.getCollection() == [User(1), User(3)])
    }

    @Test("A database can be removed without its companion files")
    func databaseAlone() throws {
        let store = CodableStore<User>(engine: .sqlite(in: place))
        let notes = CodableStore<Note>(engine: .sqlite(in: place))
        try store.save(User(1))
        try notes.save(Note(id: 1, text: ""))
        try FileManager.default.removeItem(at: database)
        try store.save(User(2))
        #expect(try store.getCollection() == [User(2)])
        #expect(try notes.getCollection().isEmpty)
        try notes.save(Note(id: 2, text: ""))
        #expect(try notes.getCollection().map(\.id) == [2])
    }

    @Test("A database that is moved over the open one is used as it is, without what the former one has written")
    func movedOver() async throws {
        let store = CodableStore<User>(engine: .sqlite(in: place))
        try store.save(User(1))
        let copy = folder.file("copy.sqlite3")
        try await SQLiteStorageEngine(readingFile: database).backup(to: copy)
        for number in 2...50 { try store.save(User(number)) }
        // The write-ahead log of the former one stays where SQLite looks for that of the new one.
        #expect(rename(copy.path, database.path) == 0)
        #expect(try store.getCollection() == [User(1)])
        try store.save(User(51))
        #expect(try store.getCollection() == [User(1), User(51)])
    }

    @Test("A database that is moved away from its companion files has all objects, also after another one was created")
    func movedAway() throws {
        let store = CodableStore<User>(engine: .sqlite(in: place))
        for number in 1...50 { try store.save(User(number)) }
        let aside = FileManager.Directory(url: folder.file("aside"))
        try FileManager.default.createDirectory(at: aside.url, withIntermediateDirectories: false)
        let moved = aside.url.appendingPathComponent(database.lastPathComponent)
        #expect(rename(database.path, moved.path) == 0)
        #expect(try store.getCollection().isEmpty)
        try store.save(User(51))
        #expect(try store.getCollection() == [User(51)])
        #expect(try CodableStore<User>(engine: .sqlite(in: aside)).getCollection() == (1...50).map { User($0) })
    }

    @Test("A shared engine is not reopened: each operation reports that its file was removed")
    func sharedEngine() throws {
        let store = CodableStore<User>(engine: .sqlite(try SQLiteStorageEngine(opening: place)))
        try store.save(User(1))
        try FileManager.default.removeItem(at: place.url)
        for operation in [{ _ = try store.save(User(2)) }, { _ = try store.delete(identifier: "1") }] {
            #expect { try operation() } throws: { ($0 as? StorageError)?.code == .placeRemoved }
        }
        #expect(throws: StorageError.self) { try store.getCollection() }
        #expect(throws: StorageError.self) { try store.get(identifier: "1") }
    }
}
