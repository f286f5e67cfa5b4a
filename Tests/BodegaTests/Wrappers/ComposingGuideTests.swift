import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

// The snippets of the guides about composition and encryption. A test compares them with the guides, line by line.

func openNotes(_ keyset: EncryptionKeyset, in directory: FileManager.Directory) throws -> some StorageEngine {
    try SQLiteStorageEngine(opening: directory)
        .encrypted(with: keyset, collection: "notes")
        .retrying()
}

func openResponses(in directory: FileManager.Directory) throws -> some StorageEngine {
    try SQLiteStorageEngine(opening: directory, durability: .relaxed)
        .limited(bytes: 500 << 20)
        .cached(bytes: 32 << 20)
        .expiring(after: .seconds(24 * 3_600))
}

struct Parcel: Codable, Sendable {
    var owner: String
    var title: String
}

func parcels(of userID: String, in database: SQLiteStorageEngine) -> ObjectStorage<Parcel> {
    let scope = StorageScope(where: "owner", equals: userID, rights: [.read, .write])
    return ObjectStorage(storage: database.scoped(to: scope), coder: .json)
}

/// Refuses items that are too large.
struct SizeLimitedEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let limit: Int

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: @concurrent () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        guard call.byteCount <= limit else {
            throw StorageError(.tooLarge, "One call can write \(limit) bytes. Divide the items.", key: call.key)
        }
        return try await body()
    }
}

func rotate(_ engine: EncryptedStorageEngine) async throws {
    var keyset = engine.keyset
    let old = keyset.primaryKeyID
    try keyset.makePrimary(keyset.addKey())
    engine.use(keyset)
    let errors = try await engine.reencrypt().errors
    guard errors.isEmpty else { throw errors[0] }
    try keyset.removeKey(old)
    engine.use(keyset)
}

struct ComposingGuideTests {

    @Test(arguments: ["ada", "\" || true || \"", "e\u{301}", "\u{E9}", ""])
    func `Each user of the guide's database has their own parcels, under any name`(_ name: String) async throws {
        let folder = TemporaryFolder()
        let database = try SQLiteStorageEngine(openingFile: folder.file("parcels"))
        let names = ["ada", "\" || true || \"", "e\u{301}", "\u{E9}", ""]
        for (number, owner) in names.enumerated() {
            try await parcels(of: owner, in: database)
                .store(Parcel(owner: owner, title: "\(number)"), forKey: CacheKey(verbatim: "\(number)"))
        }
        let own = await parcels(of: name, in: database).allObjects()
        let expected = names.firstIndex { Array($0.utf8) == Array(name.utf8) }
        #expect(own.map(\.title) == [expected.map(String.init)])
    }

    @Test func `An item of the guide's engine is stored encrypted and read after its key was rotated`() async throws {
        let folder = TemporaryFolder()
        let directory = FileManager.Directory(url: folder.file("notes"))
        let keyset = EncryptionKeyset()
        try await openNotes(keyset, in: directory).write(Data("Buy milk".utf8), key: CacheKey("1"))
        let base = try SQLiteStorageEngine(opening: directory)
        #expect(try await base.fetch(key: CacheKey("1")) != Data("Buy milk".utf8))
        let engine = base.encrypted(with: keyset, collection: "notes")
        try await rotate(engine)
        #expect(engine.keyset.keyIDs != keyset.keyIDs)
        #expect(try await engine.fetchAllData() == [Data("Buy milk".utf8)])
    }

    @Test func `The guide's engine with a cache keeps its items`() async throws {
        let folder = TemporaryFolder()
        for _ in 1...2 {
            let engine = try openResponses(in: folder.directory)
            if try await engine.fetchCount() == 0 { try await engine.write(Data("answer".utf8), key: CacheKey("1")) }
            #expect(try await engine.fetch(key: CacheKey("1")) == Data("answer".utf8))
        }
    }

    @Test func `The guide's snippet about keys works`() async throws {
        let keyset = EncryptionKeyset()  // once; keep keyset.json() in a safe place
        let engine = MemoryStorageEngine().encrypted(with: keyset, collection: "notes")
        try await engine.write(Data("Buy milk".utf8), key: CacheKey("1"))
        #expect(try await engine.fetchAllData() == [Data("Buy milk".utf8)])
    }

    @Test func `The guide's snippet about hidden keys works`() async throws {
        let keyset = EncryptionKeyset()
        let keysetForKeys = EncryptionKeyset()  // another one, which is never replaced
        let engine = MemoryStorageEngine()
            .encrypted(with: keyset, collection: "patients", hidingKeysWith: keysetForKeys)
        try await engine.write(Data("…".utf8), key: CacheKey("jane@example.com"))
        #expect(try await engine.fetchKeys() == [CacheKey("jane@example.com")])
    }

    @Test func `The guide's wrapper refuses large calls and passes the suite`() async throws {
        let engine = SizeLimitedEngine(base: MemoryStorageEngine(), limit: 10)
        let error = await #expect(throws: StorageError.self) {
            try await engine.write([(CacheKey("a"), Data(count: 5)), (CacheKey("b"), Data(count: 6))])
        }
        #expect(error?.code == .tooLarge)
        #expect(try await engine.fetchCount() == 0)
        try await engine.write(Data(count: 10), key: CacheKey("a"))
        var configuration = StorageEngineConformance.Configuration(
            "size limit", capabilities: .all.subtracting(.persistent)
        ) { workspace in
            SizeLimitedEngine(base: MemoryStorageEngine(now: workspace.clock.now), limit: .max)
        }
        configuration.largestBatch = 1_000
        configuration.largestValue = 1 << 16
        try await StorageEngineConformance.verify(configuration)
    }
}
