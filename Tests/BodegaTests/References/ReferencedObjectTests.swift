import Foundation
import Logging
import TestSupport
import Testing

@testable import Bodega

private struct Folder: Codable, Sendable, Identifiable, Equatable {
    var id: String
    var parentID: String?
}

private struct Page: Codable, Sendable, Identifiable, Equatable {
    var id: UUID
    var folderID: String
}

private struct Album: Codable, Sendable, Identifiable, Equatable {
    var id: Int
    var noteIDs: [UUID]
}

extension Folder: Queryable {
    static let references = [
        Reference("parentID", \Folder.parentID, to: Folder.self, in: "folders", onRemoval: .remove)
    ]
}

extension Page: Queryable {
    static let indexes = [Index("id", \Page.id)]
    static let references = [
        Reference("folderID", \Page.folderID, to: Folder.self, in: "folders", onRemoval: .remove)
    ]
}

extension Album: Queryable {
    static let references = [
        Reference("noteIDs", \Album.noteIDs, to: Page.self, in: "notes", onRemoval: .clear)
    ]
}

/// An item whose number and those that it names are beyond 64 bits with a sign.
private struct Hash: Codable, Sendable, Identifiable, Equatable {
    var id: UInt64
    var next: UInt64?
    var others: [UInt64] = []
}

extension Hash: Queryable {
    static let references = [
        Reference("next", \Hash.next, to: Hash.self, in: "hashes", onRemoval: .remove),
        Reference("others", \Hash.others, to: Hash.self, in: "hashes", onRemoval: .clear),
    ]
}

private struct Link: Queryable, Sendable, Identifiable {
    var id: Int
    var next: Int

    static let references = [Reference("next", \Link.next, to: Link.self, in: "links", onRemoval: .refuse)]
}

private struct PropertyListCoder: ObjectCoder {
    func encode<Object: Encodable>(_ object: Object) throws -> Data { try PropertyListEncoder().encode(object) }

    func decode<Object: Decodable>(_ type: Object.Type, from data: Data) throws -> Object {
        try PropertyListDecoder().decode(type, from: data)
    }
}

@Suite("Objects that name others")
struct ReferencedObjectTests {
    private let folder = TemporaryFolder()

    private struct Library {
        let folders: ObjectStorage<Folder>
        let notes: ObjectStorage<Page>
        let albums: ObjectStorage<Album>
        let engines: [any StorageBackend]

        init(_ collection: (String) throws -> any StorageBackend) rethrows {
            engines = try ["folders", "notes", "albums"].map(collection)
            folders = ObjectStorage(storage: engines[0])
            notes = ObjectStorage(storage: engines[1])
            albums = ObjectStorage(storage: engines[2])
        }
    }

    private static let ids = (1...4).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 64, 0, 128, 0, 0, 0, 0, 0, 0, $0)) }

    private func fill(_ library: Library) async throws {
        try await library.folders.store(Folder(id: "root"), forKey: CacheKey("root"))
        try await library.folders.store(Folder(id: "child", parentID: "root"), forKey: CacheKey("child"))
        try await library.folders.store(Folder(id: "other"), forKey: CacheKey("other"))
        for (id, folder) in zip(Self.ids, ["root", "child", "other", "gone"]) {
            try await library.notes.store(Page(id: id, folderID: folder), forKey: CacheKey(id.uuidString))
        }
        try await library.albums.store(Album(id: 1, noteIDs: Self.ids), forKey: CacheKey("1"))
    }

    private func expectWithoutRoot(_ library: Library) async throws {
        let folders = try await library.folders.fetchAllObjects().objects
        #expect(folders == [Folder(id: "other")])
        let notes = try await library.notes.fetchAllObjects().objects
        #expect(notes.map(\.id) == [Self.ids[2], Self.ids[3]], "The one with a dangling reference stays.")
        let albums = try await library.albums.fetchAllObjects().objects
        #expect(albums == [Album(id: 1, noteIDs: [Self.ids[2], Self.ids[3]])])
    }

    @Test("go with them, in memory and in SQLite", arguments: [false, true])
    func cascade(isInMemory: Bool) async throws {
        let memory = MemoryStorageEngine()
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try Library { name -> any StorageBackend in
            if isInMemory { memory.collection(named: name) } else { try file.collection(named: name) }
        }
        try await fill(library)
        try await library.folders.removeObject(forKey: CacheKey("root"))
        try await expectWithoutRoot(library)
    }

    /// Two versions of a type. The second one has a property more.
    private struct Photo: Codable, Sendable, Queryable {
        var id: String
        var folder: String?
        static let references = [
            Reference("folder", \Photo.folder, to: Folder.self, in: "folders", onRemoval: .remove)
        ]
    }

    private struct NewPhoto: Codable, Sendable, Queryable {
        var id: String
        var folder: String?
        var tag: String?
        static let references = [
            Reference("folder", \NewPhoto.folder, to: Folder.self, in: "folders", onRemoval: .clear),
            Reference("tag", \NewPhoto.tag, to: Folder.self, in: "tags", onRemoval: .remove),
        ]
    }

    @Test("are kept although an older version of their type does not know all of them", arguments: [false, true])
    func versions(isInMemory: Bool) async throws {
        let memory = MemoryStorageEngine()
        let file = try SQLiteStorageEngine(opening: folder.directory)
        func engine(_ name: String) throws -> any StorageBackend {
            isInMemory ? memory.collection(named: name) : try file.collection(named: name)
        }
        let photos = try engine("photos")
        let tags = ObjectStorage<Folder>(storage: try engine("tags"))
        let (old, new) = (ObjectStorage<Photo>(storage: photos), ObjectStorage<NewPhoto>(storage: photos))
        try await tags.store(Folder(id: "t"), forKey: CacheKey("t"))
        try await old.store(Photo(id: "0"), forKey: CacheKey("0"))
        try await new.store(NewPhoto(id: "1", tag: "t"), forKey: CacheKey("1"))
        let declared = try await photos.references?.fetchReferences() ?? []
        #expect(Set(declared) == Set(NewPhoto.references.map(\.storageReference)))
        // Another program with the older version begins.
        try await ObjectStorage<Photo>(storage: photos).store(Photo(id: "2"), forKey: CacheKey("2"))
        let later = try await photos.references?.fetchReferences() ?? []
        #expect(Set(later.map(\.path)) == ["folder", "tag"])
        try await tags.removeObject(forKey: CacheKey("t"))
        #expect(try await new.fetchAllObjects().objects.map(\.id) == ["0", "2"])
    }

    @Test("are told apart by all digits of their numbers", arguments: [false, true])
    func largeNumbers(isInMemory: Bool) async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let engine: any StorageBackend =
            isInMemory ? MemoryStorageEngine().collection(named: "hashes") : try file.collection(named: "hashes")
        let hashes = ObjectStorage<Hash>(storage: engine)
        let (max, other) = (UInt64.max, UInt64.max - 1)
        let items = [
            Hash(id: max), Hash(id: other), Hash(id: 1, next: max), Hash(id: 2, next: other),
            Hash(id: 3, others: [max, other, 1]),
        ]
        for item in items { try await hashes.store(item, forKey: CacheKey("\(item.id)")) }
        try await hashes.removeObject(forKey: CacheKey("\(max)"))
        let left = try await hashes.fetchAllObjects().objects
        #expect(left == [Hash(id: other), Hash(id: 2, next: other), Hash(id: 3, others: [other])])
    }

    @Test("go with them if a program that does not know them removes one")
    func unaware() async throws {
        let file = folder.file("library.sqlite3")
        let first = try SQLiteStorageEngine(openingFile: file)
        try await fill(try Library { try first.collection(named: $0) })
        try await first.close()

        let second = try SQLiteStorageEngine(openingFile: file)
        try await second.collection(named: "folders").remove(key: CacheKey("root"))
        try await expectWithoutRoot(try Library { try second.collection(named: $0) })
    }

    @Test("go with them through wrappers, and are refused by those that hide the JSON")
    func wrappers() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try Library {
            try file.collection(named: $0).cached().logged(by: Logger(label: "tests")).retrying()
        }
        try await fill(library)
        for key in ["root", "child", "other"] { _ = try await library.folders.fetchObject(forKey: CacheKey(key)) }
        try await library.folders.removeObject(forKey: CacheKey("root"))
        try await expectWithoutRoot(try Library { try file.collection(named: $0) })

        let hidden = try file.collection(named: "notes").prefixed("x")
        let notes = ObjectStorage<Page>(storage: hidden)
        await #expect(throws: StorageError.self) {
            try await notes.store(Page(id: Self.ids[0], folderID: "other"), forKey: CacheKey("1"))
        }
        #expect(try await file.collection(named: "notes").fetchCount() == 2)
    }

    @Test("are declared by a reader, too, without writing, if they are declared already")
    func readOnly() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        try await fill(try Library { try file.collection(named: $0) })
        let library = try Library { try file.collection(named: $0).readOnly() }
        let count = try await library.notes.removeObjects(
            matching: Query(where: #Predicate { $0.folderID == "nothing" }))
        #expect(count == 0)
        await #expect(throws: StorageError.self) { try await library.notes.removeAllObjects() }
        let references = try await library.engines[1].references?.fetchReferences()
        #expect(references == [StorageReference("folderID", to: "folders", onRemoval: .remove)])
    }

    @Test("have an index over the property that names them")
    func index() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try Library { try file.collection(named: $0) }
        try await fill(library)
        try await library.notes.createIndexes()
        let indexes = try await library.engines[1].indexes?.fetchIndexes()
        #expect(indexes == [StorageIndex("id"), StorageIndex("folderID")])
    }

    @Test("refuse to be left behind, unless they go in the same transaction")
    func refusal() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try Library { try file.collection(named: $0) }
        try await fill(library)
        try await library.engines[1].references?.declareReferences([
            StorageReference("folderID", to: "folders", onRemoval: .refuse)
        ])
        let other = CacheKey("other")
        let error = await #expect(throws: StorageError.self) { try await library.folders.removeObject(forKey: other) }
        #expect(error?.code == .referenced)
        #expect(error?.message.contains("folderID") == true)
        #expect(try await library.folders.fetchCount() == 3)

        try await file.transaction { transaction in
            try transaction.removeObject(forKey: other, in: library.folders)
            try transaction.removeObject(forKey: CacheKey(Self.ids[2].uuidString), in: library.notes)
        }
        #expect(try await library.folders.fetchCount() == 2)
        #expect(try await library.albums.fetchAllObjects().objects.first?.noteIDs.contains(Self.ids[2]) == false)
    }

    /// Each page of 500 is a batch of its own.
    @Test("refuse the removal of the matching objects in several batches, but not in one", arguments: [false, true])
    func refusalBetweenBatches(isInMemory: Bool) async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let engine: any StorageBackend =
            isInMemory ? MemoryStorageEngine().collection(named: "links") : try file.collection(named: "links")
        let links = ObjectStorage<Link>(storage: engine)
        // A circle, so a page always leaves one that names an item of it.
        try await links.store((0..<600).map { (CacheKey("\($0)"), Link(id: $0, next: ($0 + 1) % 600)) })
        let all = Query<Link>(where: #Predicate { $0.id >= 0 })
        let error = await #expect(throws: StorageError.self) { try await links.removeObjects(matching: all) }
        #expect(error?.code == .referenced)
        #expect(try await links.fetchCount() == 600)
        try await links.removeAllObjects()
        #expect(try await links.fetchCount() == 0)
    }

    @Test("refuse the eviction of an object that another one names, and with it the write")
    func refusedEviction() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try Library { try file.collection(named: $0) }
        try await fill(library)
        try await library.engines[1].references?.declareReferences([
            StorageReference("folderID", to: "folders", onRemoval: .refuse)
        ])
        let limited = try file.collection(named: "folders").limited(count: 3)
        let new = Data(#"{"id":"new"}"#.utf8)
        let error = await #expect(throws: StorageError.self) { try await limited.write(new, key: CacheKey("new")) }
        #expect(error?.code == .referenced)
        #expect(try await library.folders.fetchAllObjects().objects.map(\.id) == ["root", "child", "other"])
        #expect(try await library.notes.fetchCount() == 4)
    }

    @Test("have origins of their own in the log, beside those of a transaction's parts", arguments: [false, true])
    func origins(isInMemory: Bool) async throws {
        let memory = MemoryStorageEngine()
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try Library { name -> any StorageBackend in
            if isInMemory { memory.collection(named: name) } else { try file.collection(named: name) }
        }
        try await fill(library)
        let log = try #require(library.engines[1].log)
        let cursor = try await log.fetchCursor()
        let (first, second) = (StorageOrigin(), StorageOrigin())
        let removed = CacheKey(Self.ids[2].uuidString)
        // The album names the second one, so that something follows from both.
        _ = try await StorageBatchGroup.apply([
            (library.engines[0], StorageBatch([.remove(key: CacheKey("root"))], origin: first)),
            (library.engines[1], StorageBatch([.remove(key: removed)], origin: second)),
        ])
        let changes = try #require(try await log.fetchChanges(ChangesRequest(since: cursor)).value).changes
        #expect(changes.filter { $0.origin == second }.map(\.key) == [removed])
        let others = changes.filter { $0.key != removed }
        #expect(Set(others.map(\.key)) == Set(Self.ids.prefix(2).map { CacheKey($0.uuidString) }))
        #expect(others.allSatisfy { $0.origin?.isShared == true && $0.origin != first })
        #expect(try await library.albums.fetchAllObjects().objects.first?.noteIDs == [Self.ids[3]])
    }

    @Test("with references at another member are reported, and those that are not JSON are refused")
    func mistakes() async throws {
        struct Mistaken: Queryable, Sendable {
            enum CodingKeys: String, CodingKey { case folderID = "folder_id" }
            var folderID: String
            static let references = [
                Reference("folderID", \Mistaken.folderID, to: Folder.self, in: "folders", onRemoval: .remove)
            ]
        }
        let messages = Locked<[String]>([])
        let logger = Logger.ofMessages { message, _ in messages.withLock { $0.append(message) } }
        let coder = JSONObjectCoder(trusts: IndexTrusts(logger: logger))
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let storage = ObjectStorage<Mistaken>(storage: file, coder: coder)
        for number in 0..<3 {
            try await storage.store(Mistaken(folderID: "\(number)"), forKey: CacheKey("\(number)"))
        }
        #expect(messages.withLock { $0.count } == 1)
        #expect(messages.withLock { $0[0].hasPrefix("A reference is not kept") })

        let plain = ObjectStorage<Page>(storage: try file.collection(named: "pages"), coder: PropertyListCoder())
        let page = Page(id: Self.ids[0], folderID: "a")
        let error = await #expect(throws: StorageError.self) { try await plain.store(page, forKey: CacheKey("1")) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("JSON") == true)
    }

    @Test("are kept while many write, and a refusal undoes nothing of others in the same commit")
    func concurrency() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let library = try Library { try file.collection(named: $0) }
        try await fill(library)
        try await library.engines[1].references?.declareReferences([
            StorageReference("folderID", to: "folders", onRemoval: .refuse)
        ])
        let refusals = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do {
                        if number.isMultiple(of: 4) {
                            try await library.folders.removeObject(forKey: CacheKey("other"))
                        } else {
                            try await library.folders.store(Folder(id: "\(number)"), forKey: CacheKey("\(number)"))
                        }
                        return false
                    } catch let error as StorageError where error.code == .referenced {
                        return true
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refusals == 50)
        #expect(try await library.folders.fetchCount() == 3 + 150)
        #expect(try await library.notes.fetchCount() == 4)
    }
}
