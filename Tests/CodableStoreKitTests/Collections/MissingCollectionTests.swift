import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import CodableStoreKit

/// Collections that do not exist, and those that are removed.
@Suite struct MissingCollectionTests {

    private let folder = TemporaryFolder()
    private var place: FileManager.Directory { FileManager.Directory(url: folder.file("place")) }
    private var database: URL { place.url.appendingPathComponent("CodableStoreKit.sqlite3") }

    private func engine(_ kind: EngineKind) -> CodableStore<User>.Engine {
        kind == .sqlite ? .sqlite(in: place) : .fileSystem(in: place)
    }

    /// Calls everything that reads.
    private func read(_ store: CodableStore<User>) throws {
        #expect(try store.getCollection().isEmpty)
        #expect(try store.fetchCollection().objects.isEmpty)
        #expect(!store.exists(identifier: "1"))
        #expect(throws: StorageError.self) { try store.get(identifier: "1") }
        #expect(throws: StorageError.self) { try store.delete(identifier: "1") }
        #expect(try store.deleteCollection().isEmpty)
        #expect(store.save([]).isEmpty)
    }

    /// The sizes of all files below the place.
    private func sizes() throws -> [String: Int] {
        var sizes: [String: Int] = [:]
        for name in FileManager.default.enumerator(atPath: place.url.path)?.compactMap({ $0 as? String }) ?? [] {
            let attributes = try FileManager.default.attributesOfItem(atPath: place.url.path + "/" + name)
            sizes[name] = attributes[.size] as? Int
        }
        return sizes
    }

    @Test("Reading creates nothing", arguments: EngineKind.onDisk)
    func reading(kind: EngineKind) throws {
        for number in 0..<100 { try read(CodableStore(container: "absent \(number)", engine: engine(kind))) }
        #expect(!FileManager.default.fileExists(atPath: place.url.path))
        let store = CodableStore<User>(engine: engine(kind))
        try store.save(User(1))
        let before = try sizes()
        #expect(!before.isEmpty)
        for number in 0..<200 { try read(CodableStore(container: "absent \(number)", engine: engine(kind))) }
        #expect(try sizes() == before)
        try CodableStore<User>(container: "absent", engine: engine(kind)).removeCollection()
        #expect(try sizes() == before)
        #expect(try store.getCollection() == [User(1)])
    }

    @Test("Observing creates no collection, and begins with what creates it")
    func observing() async throws {
        let events = (0..<20).map {
            CodableStore<Letter>(container: "absent \($0)", engine: .sqlite(in: place)).events()
        }
        let other = try SQLiteStorageEngine(openingFile: database)
        #expect(try await other.collectionNames().isEmpty)
        #expect(await (try Child("save-letters", "sqlite", place.url.path, "x", "1")).lines().last == "done")
        #expect(try await other.collectionNames().count == 1)
        try CodableStore<Letter>(container: "absent 7", engine: .sqlite(in: place)).save(Letter(id: "own"))
        let names = try await other.collectionNames()
        #expect(names.count == 2)
        try await Refilling.save("theirs", "", in: other.collection(named: try #require(names.last)))
        var iterator = events[7].makeAsyncIterator()
        for id in ["own", "theirs"] {
            guard case .saved(let letter, _, _)? = await iterator.next() else {
                throw StorageError(.damaged, "no event")
            }
            #expect(letter.id == id)
        }
    }

    @Test("Reading a container on a shared engine creates no collection")
    func sharedEngine() async throws {
        let shared = try SQLiteStorageEngine(opening: place)
        for number in 0..<100 { try read(CodableStore(container: "absent \(number)", engine: .sqlite(shared))) }
        #expect(try await shared.collectionNames().isEmpty)
        try CodableStore<User>(container: "present", engine: .sqlite(shared)).save(User(1))
        #expect(try await shared.collectionNames().count == 1)
    }

    @Test("A store that has found nothing finds what another process saves", arguments: ["files", "sqlite"])
    func savedLater(kind: String) async throws {
        let store = CodableStore<Letter>(engine: kind == "sqlite" ? .sqlite(in: place) : .fileSystem(in: place))
        #expect(try store.getCollection().isEmpty)
        #expect(await (try Child("save-letters", kind, place.url.path, "x", "1")).lines().last == "done")
        #expect(try !store.getCollection().isEmpty)
        #expect(store.exists(identifier: "x-1-0-a"))
    }

    @Test("A removed collection leaves nothing, not even what can't be decoded", arguments: EngineKind.onDisk)
    func removal(kind: EngineKind) async throws {
        let store = CodableStore<User>(container: "removed", engine: engine(kind))
        let kept = CodableStore<User>(container: "kept", engine: engine(kind))
        try kept.save(User(7))
        let events = Events<User>()
        for result in store.save((0..<100).map { User($0) }) { #expect(result.error == nil) }
        // A record of another form under the identifier of an object.
        try await damage(kind)
        #expect(try store.fetchCollection().undecodable.count == 1)
        let subscription = store.observeCollection { events.add($0) }
        try store.removeCollection()
        #expect(events.all == (0..<99).map { "deleted \($0)" })
        subscription.unsubscribe()
        #expect(try store.getCollection().isEmpty)
        #expect(try kept.getCollection() == [User(7)])
        if kind == .sqlite {
            let engine = try SQLiteStorageEngine(openingFile: database)
            #expect(try await engine.collectionNames().count == 1)
        } else {
            // The container's folder may stay.
            #expect(try sizes().keys.filter { $0.hasPrefix("removed") && $0.contains("/") } == [])
        }
        try store.save(User(1))
        #expect(try store.getCollection() == [User(1)])
    }

    private func damage(_ kind: EngineKind) async throws {
        let bytes = Data("[]".utf8)
        if kind == .sqlite {
            let engine = try SQLiteStorageEngine(openingFile: database)
            let name = try #require(try await engine.collectionNames().last)
            try await engine.collection(named: name).write(bytes, key: CacheKey("99"))
            try await engine.close()
        } else {
            let files = try sizes().keys.filter { $0.hasSuffix("/99") }
            try bytes.write(to: place.url.appendingPathComponent(try #require(files.first)))
        }
    }

    @Test("Observers of a collection that another engine removes are notified of each object, and of what follows")
    func removedByOther() async throws {
        let store = CodableStore<Letter>(engine: .sqlite(in: place))
        for result in store.save((0..<3).map { Letter(id: "\($0)") }) { #expect(result.error == nil) }
        var events = store.events().makeAsyncIterator()
        let other = try SQLiteStorageEngine(openingFile: database)
        // When this change has arrived, all records are known.
        let name = try #require(try await other.collectionNames().first)
        let written = try JSONEncoder().encode(Letter(id: "9"))
        try await other.collection(named: name).write(written, key: CacheKey("9"))
        guard case .saved(let first, _, _)? = await events.next() else { throw StorageError(.damaged, "no event") }
        #expect(first.id == "9")
        try await other.removeCollection(named: name)
        var deleted: Set<String> = []
        while deleted.count < 4, case .deleted(let letter, _, _)? = await events.next() { deleted.insert(letter.id) }
        #expect(deleted == ["0", "1", "2", "9"])
        try store.save(Letter(id: "3"))
        guard case .saved(let saved, _, _)? = await events.next() else { throw StorageError(.damaged, "no event") }
        #expect(saved.id == "3")
        #expect(try store.getCollection().map(\.id) == ["3"])
    }

    @Test("Collections that were not used for long are closed, those in use are not")
    func recentCores() {
        var cores = RecentCores<Int>()
        func use(_ number: Int) -> CollectionCore {
            let core = cores[number] ?? CollectionCore(MemoryCollection())
            _ = cores.use(core, as: number)
            return core
        }
        let inUse = use(0)
        use(1).noteUndecodable(CacheKey("a"))
        let all = (0..<2_000).map { Weak(use($0)) }
        #expect(all.count { $0.object != nil } <= 2 * RecentCores<Int>.capacity + 2)
        #expect(use(0) === inUse && all[0].object === inUse)
        #expect(all[1].object?.undecodable(among: [CacheKey("a")]) == [CacheKey("a")])
        #expect(all.last?.object != nil && all[1_000].object == nil)
    }

    @Test("An observer is called by stores that are created long after its own", arguments: EngineKind.onDisk)
    func lateStores(kind: EngineKind) throws {
        let events = Events<User>()
        CodableStore<User>(container: "observed", engine: engine(kind)).observeCollection { events.add($0) }
        for number in 0..<300 {
            _ = try CodableStore<User>(container: "other \(number)", engine: engine(kind)).getCollection()
        }
        try CodableStore<User>(container: "observed", engine: engine(kind)).save(User(1))
        #expect(events.all == ["saved 1"])
    }
}
