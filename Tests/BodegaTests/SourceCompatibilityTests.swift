import Bodega
import Foundation
import TestSupport
import Testing

/// Calls written for the first Bodega. That they compile is most of the test.
@Suite struct SourceCompatibilityTests {

    private struct Note: Codable, Equatable {
        let id: String
    }

    @Test("Engines are used as with Bodega 2")
    func engines() async throws {
        let folder = TemporaryFolder()
        let sqlite: SQLiteStorageEngine? = SQLiteStorageEngine(directory: folder.directory, databaseFilename: "notes")
        let disk: DiskStorageEngine = DiskStorageEngine(directory: .init(url: folder.file("notes")))
        let engines: [any StorageEngine] = [try #require(sqlite), disk]
        let key = CacheKey(url: try #require(URL(string: "https://a.org/b")))
        for engine in engines {
            try await engine.write(Data("1".utf8), key: key)
            try await engine.write([(key: CacheKey("x"), data: Data("2".utf8)), (CacheKey(verbatim: "y"), Data())])
            let data: Data? = await engine.read(key: key)
            #expect(data == Data("1".utf8))
            let several: [Data] = await engine.read(keys: [key])
            #expect(several.count == 1)
            let pairs: [(key: CacheKey, data: Data)] = await engine.readDataAndKeys(keys: [key])
            #expect(pairs.first?.key.value == key.value)
            #expect(await engine.readAllData().count == 3)
            #expect(await engine.readAllDataAndKeys().count == 3)
            #expect(await engine.keyExists(key))
            #expect(await engine.keysExist([key, CacheKey("z")]) == [key])
            #expect(await engine.keyCount() == 3)
            #expect(await engine.allKeys().count == 3)
            let dates: (Date?, Date?) = (await engine.createdAt(key: key), await engine.updatedAt(key: key))
            #expect(dates.0 != nil && dates.1 != nil)
            try await engine.remove(key: key)
            try await engine.remove(keys: [CacheKey("x")])
            try await engine.removeAllData()
            #expect(await engine.keyCount() == 0)
        }
        #expect(FileManager.default.fileExists(atPath: folder.file("notes.sqlite3").path))
        try await disk.write(Data(), key: key)
        let accessed: Date? = await disk.lastAccessed(key: key)
        #expect(accessed != nil)
    }

    @Test("Objects are stored as with Bodega 2")
    func objects() async throws {
        let folder = TemporaryFolder()
        let storage = ObjectStorage<Note>(storage: try #require(SQLiteStorageEngine(directory: folder.directory)))
        let (note, key) = (Note(id: "1"), CacheKey("1"))
        try await storage.store(note, forKey: key)
        try await storage.store([(key: CacheKey("2"), object: Note(id: "2"))])
        let read: Note? = await storage.object(forKey: key)
        #expect(read == note)
        let pairs: [(key: CacheKey, object: Note)] = await storage.objectsAndKeys(keys: [key])
        #expect(pairs.count == 1)
        #expect(await storage.objects(forKeys: [key]) == [note])
        #expect(await storage.allObjects().count == 2)
        #expect(await storage.allObjectsAndKeys().count == 2)
        #expect(await storage.keyCount() == 2)
        #expect(await storage.allKeys() == [key, CacheKey("2")])
        #expect(await storage.createdAt(forKey: key) == storage.updatedAt(forKey: key))
        try await storage.removeObject(forKey: key)
        try await storage.removeObject(forKeys: [key])
        try await storage.removeAllObjects()
    }

    @Test("Folders are named as with Bodega 2, in the platform's locations")
    func directories() {
        let directories: [FileManager.Directory] = [
            .documents(appendingPath: "A"), .caches(appendingPath: "A"), .temporary(appendingPath: "A"),
            .applicationSupport(appendingPath: "A"), .defaultStorageDirectory(appendingPath: "A"),
            .sharedContainer(forAppGroupIdentifier: "group.a", appendingPath: "A"),
        ]
        for directory in directories {
            #expect(directory.url.isFileURL)
            #expect(directory.url.lastPathComponent == "A")
        }
        #expect(Set(directories.map(\.url)).count >= 5)
        #expect(FileManager.Directory.temporary(appendingPath: "").url == FileManager.default.temporaryDirectory)
    }
}
