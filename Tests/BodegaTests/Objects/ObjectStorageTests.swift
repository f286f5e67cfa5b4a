import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

private struct Quote: Codable, Equatable {
    var id: String
    var text: String
    var date = Date(timeIntervalSince1970: 1_655_922_600)
}

@Suite struct ObjectStorageTests {

    private let dolly = Quote(id: "dolly-parton", text: "Find out who you are. And do it on purpose.")
    private let zora = Quote(
        id: "zora-neale-hurston", text: "There are years that ask questions and years that answer.")

    @Test("Objects are stored, read, counted, dated and removed")
    func everything() async throws {
        let storage = ObjectStorage<Quote>(storage: MemoryStorageEngine())
        let key = CacheKey(dolly.id)
        try await storage.store(dolly, forKey: key)
        try await storage.store([(CacheKey(zora.id), zora)])
        #expect(await storage.object(forKey: key) == dolly)
        #expect(await storage.objects(forKeys: [CacheKey(zora.id), CacheKey("absent"), key]) == [zora, dolly])
        #expect(await storage.objectsAndKeys(keys: [key]).map(\.key) == [key])
        #expect(await storage.allObjects() == [dolly, zora])
        #expect(await storage.allObjectsAndKeys().map(\.key) == [key, CacheKey(zora.id)])
        #expect(await storage.keyCount() == 2)
        #expect(await storage.allKeys() == [key, CacheKey(zora.id)])
        #expect(await storage.createdAt(forKey: key) != nil)
        #expect(await storage.updatedAt(forKey: CacheKey("absent")) == nil)
        try await storage.removeObject(forKey: key)
        #expect(try await storage.fetchObject(forKey: key) == nil)
        try await storage.removeObject(forKeys: [CacheKey(zora.id), key])
        #expect(try await storage.fetchCount() == 0)
        try await storage.store(dolly, forKey: key)
        try await storage.removeAllObjects()
        #expect(try await storage.fetchKeys() == [])
    }

    @Test("A storage on a folder keeps each object in a file")
    func directory() async throws {
        let folder = TemporaryFolder()
        try await ObjectStorage(directory: folder.directory).store(dolly, forKey: CacheKey(verbatim: "dolly.json"))
        let data = try Data(contentsOf: folder.file("dolly.json"))
        #expect(try JSONDecoder().decode(Quote.self, from: data) == dolly)
    }

    @Test("A record that cannot be decoded is reported with its key, does not hide others, and stays stored")
    func undecodable() async throws {
        let engine = MemoryStorageEngine()
        let storage = ObjectStorage<Quote>(storage: engine)
        let bad = CacheKey("bad")
        try await storage.store(dolly, forKey: CacheKey("1"))
        try await engine.write(Data("{}".utf8), key: bad)
        try await storage.store(zora, forKey: CacheKey("2"))

        let fetched = try await storage.fetchAllObjects()
        #expect(fetched.objects == [dolly, zora])
        #expect(fetched.undecodable.map(\.key) == [bad])
        #expect(fetched.undecodable.first?.code == .decodingFailed)
        #expect(fetched.undecodable.first?.cause is DecodingError)
        #expect(try await storage.fetchObjects(forKeys: [bad, CacheKey("2")]).objects == [zora])
        await #expect { try await storage.fetchObject(forKey: bad) } throws: { error in
            (error as? StorageError)?.code == .decodingFailed && (error as? StorageError)?.key == bad
        }
        #expect(await storage.allObjects() == [dolly, zora])
        #expect(await storage.object(forKey: bad) == nil)
        #expect(await engine.read(key: bad) == Data("{}".utf8))
        #expect(try await storage.fetchCount() == 3)
    }

    @Test("An object that cannot be encoded is reported, and nothing of its batch is stored")
    func unencodable() async throws {
        let storage = ObjectStorage<Double>(storage: MemoryStorageEngine())
        await #expect { try await storage.store([(CacheKey("1"), 1), (CacheKey("2"), .nan)]) } throws: { error in
            (error as? StorageError)?.code == .encodingFailed && (error as? StorageError)?.key == CacheKey("2")
        }
        #expect(try await storage.fetchCount() == 0)
    }

    @Test("Coders with custom strategies are used unchanged")
    func coder() async throws {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
        let engine = MemoryStorageEngine()
        let storage = ObjectStorage<Quote>(storage: engine, coder: .json(encoder: encoder, decoder: decoder))
        try await storage.store(dolly, forKey: CacheKey("1"))
        let data = try #require(await engine.read(key: CacheKey("1")))
        #expect(String(decoding: data, as: UTF8.self).contains("2022-06-22T18:30:00Z"))
        #expect(await storage.object(forKey: CacheKey("1")) == dolly)
    }

    @Test("A damaged record at which Foundation's decoder crashes is reported", arguments: [0, 1])
    func bracketAtTheEnd(others: Int) async throws {
        let engine = MemoryStorageEngine()
        let coder = JSONObjectCoder(encoder: JSONEncoder(), decoder: JSONDecoder())
        let storage = ObjectStorage<Quote>(storage: engine, coder: coder)
        for number in 0...others {
            try await engine.write(Data(repeating: UInt8(ascii: "["), count: 513), key: CacheKey("\(number)"))
        }
        let fetched = try await storage.fetchAllObjects()
        #expect(fetched.undecodable.map(\.code) == Array(repeating: .decodingFailed, count: others + 1))
        await #expect(throws: StorageError.self) { try await storage.fetchObject(forKey: CacheKey("0")) }
    }

    @Test("Methods for several objects make one call to the engine")
    func oneCall() async throws {
        let engine = RecordingStorageEngine(MemoryStorageEngine())
        let storage = ObjectStorage<Quote>(storage: engine)
        let keys = [CacheKey("1"), CacheKey("2")]
        try await storage.store([(keys[0], dolly), (keys[1], zora)])
        _ = await storage.objects(forKeys: keys)
        _ = await storage.allObjects()
        try await storage.removeObject(forKeys: keys)
        #expect(engine.calls.count == 4)
    }
}
