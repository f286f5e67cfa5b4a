import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Names that hide the keys of encrypted items.
struct KeyHidingTests {

    private let base = MemoryStorageEngine()
    private let keyset = EncryptionKeyset()
    private let keysetForKeys = EncryptionKeyset()

    private func engine(
        _ collection: String = "notes", keys: EncryptionKeyset? = nil
    ) -> KeyHidingStorageEngine {
        base.encrypted(with: keyset, collection: collection, hidingKeysWith: keys ?? keysetForKeys)
    }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    @Test func `Nothing of a key is stored, and a key has one name in each collection`() async throws {
        let keys = HostileTexts.all.flatMap { text in CacheKey.Kind.allCases.map { CacheKey(identity: text, kind: $0) }
        }
        try await engine().write(keys.map { ($0, Data()) })
        let names = try await base.fetchKeys()
        #expect(Set(names).count == keys.count)
        #expect(names.allSatisfy { $0.kind == .hashed })
        #expect(try await engine().fetchKeys() == keys)
        try await engine().write(keys.map { ($0, Data([1])) })
        #expect(try await base.fetchKeys() == names)
        try await engine("letters").write(keys.map { ($0, Data()) })
        #expect(try await base.fetchCount() == 2 * keys.count)
        // Short keys can't be told apart by the lengths of their names.
        #expect(
            engine().storedKey(CacheKey("")).identity.count
                == engine().storedKey(CacheKey("thirty characters long, surely")).identity.count)
    }

    @Test func `Frozen names are found`() async throws {
        let folder = Fixtures.file("encryption/hidden-keys")
        let (keyset, keys) = (
            try EncryptionKeyset(json: Data(contentsOf: folder.appendingPathComponent("keyset.json"))),
            try EncryptionKeyset(json: Data(contentsOf: folder.appendingPathComponent("keyset-for-keys.json")))
        )
        struct Item: Decodable {
            let kind: CacheKey.Kind
            let identity: String
            let name: String
            let data: Data
            let stored: Data
        }
        let file = folder.appendingPathComponent("items.json")
        let items = try JSONDecoder().decode([Item].self, from: Data(contentsOf: file))
        #expect(items.count == 7)
        let engine = base.encrypted(with: keyset, collection: "notes", hidingKeysWith: keys)
        try await base.write(items.map { (CacheKey($0.name), $0.stored) })
        #expect(try await engine.fetchKeys() == items.map { CacheKey(identity: $0.identity, kind: $0.kind) })
        for item in items {
            let key = CacheKey(identity: item.identity, kind: item.kind)
            #expect(try await engine.fetch(key: key) == item.data)
            #expect(engine.storedKey(key) == CacheKey(item.name))
        }
    }

    @Test func `Items that are exchanged are errors`() async throws {
        let engine = engine()
        try await engine.write([(CacheKey("a"), Data("1".utf8)), (CacheKey("b"), Data("2".utf8))])
        let stored = try await base.fetchAll()
        try await base.write([(stored[0].key, stored[1].data), (stored[1].key, stored[0].data)])
        for key in [CacheKey("a"), CacheKey("b")] {
            let error = await #expect(throws: StorageError.self) { try await engine.fetch(key: key) }
            #expect(error?.code == .decryptionFailed && error?.key == key)
        }
    }

    @Test func `Every changed bit of a name is an error of that item alone, with which it can be removed`() async throws
    {
        let engine = engine()
        try await engine.write([(CacheKey("a"), Data("1".utf8)), (CacheKey("b"), Data("2".utf8))])
        let first = try await base.fetchAll()[0]
        let bytes = Array(first.key.identity.utf8)
        for bit in 0..<(bytes.count * 8) where bit % 8 < 7 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            let name = CacheKey(String(decoding: changed, as: UTF8.self))
            try await base.apply([.remove(key: first.key), .write(key: name, data: first.data)])
            let unreadable = try #require(try await engine.fetchKeys().first { $0 != CacheKey("b") })
            #expect(unreadable.kind == .verbatim && engine.storedKey(unreadable) == name)
            #expect(try await engine.fetch(key: CacheKey("a")) == nil)
            #expect(try await engine.fetch(key: CacheKey("b")) == Data("2".utf8))
            #expect(await code { try await engine.fetch(key: unreadable) } == .decryptionFailed)
            #expect(await code { try await engine.fetchAll() } == .decryptionFailed)
            #expect(await code { try await engine.write(Data(), key: unreadable) } == .invalidArgument)
            #expect(try await engine.fetchCount() == 2)
            try await engine.remove(key: unreadable)
            #expect(try await base.fetchCount() == 1)
        }
    }

    @Test func `Items with other names are reported, whatever they hold`() async throws {
        let other = base.encrypted(with: keyset, collection: "notes", hidingKeysWith: EncryptionKeyset())
        try await other.write(Data("1".utf8), key: CacheKey("a"))
        try await base.encrypted(with: keyset, collection: "notes").write(Data("2".utf8), key: CacheKey(verbatim: "b"))
        try await base.write(Data("3".utf8), key: CacheKey(verbatim: "emporium.unreadable:0:x"))
        try await engine().write(Data("4".utf8), key: CacheKey("a"))
        let found = try await ObjectStorage<Int>(storage: engine()).fetchAllObjects()
        #expect(found.objects == [4])
        #expect(found.undecodable.map(\.code) == [.decryptionFailed, .decryptionFailed, .decryptionFailed])
        try await engine().remove(keys: found.undecodable.compactMap(\.key))
        #expect(try await base.fetchCount() == 1)
        #expect(try await engine().fetchKeys() == [CacheKey("a")])
    }

    @Test func `Collections by prefixes report items whose keys can't be read, and never look empty then`() async throws
    {
        let (a, b) = (engine().prefixed("a"), engine().prefixed("b").prefixed("c"))
        try await a.write([(CacheKey("1"), Data("1".utf8)), (CacheKey("2"), Data("2".utf8))])
        try await b.write(Data("3".utf8), key: CacheKey("3"))
        #expect(try await a.fetchKeys() == [CacheKey("1"), CacheKey("2")])

        // Another keyset for keys: no key can be read, so each item may belong to each collection.
        let wrong = engine(keys: EncryptionKeyset())
        for collection in [wrong.prefixed("a"), wrong.prefixed("z")] {
            #expect(try await collection.fetchCount() == 3)
            #expect(await code { try await collection.fetchAll() } == .decryptionFailed)
            #expect(await code { try await collection.fetchAllData() } == .decryptionFailed)
            #expect(await code { try await collection.fetchSnapshot() } == .decryptionFailed)
            let found = try await ObjectStorage<Int>(storage: collection).fetchAllObjects()
            #expect(found.objects.isEmpty)
            #expect(found.undecodable.map(\.code) == Array(repeating: .decryptionFailed, count: 3))
            for key in found.undecodable.compactMap(\.key) {
                #expect(await code { try await collection.fetch(key: key) } == .decryptionFailed)
                #expect(await code { try await collection.write(Data(), key: key) } == .invalidArgument)
            }
            // Nothing shows that the items belong to this collection.
            try await collection.removeAllData()
            #expect(try await base.fetchCount() == 3)
        }

        // A name that was changed: one item of one collection.
        let stored = try await base.fetchAll()
        let name = CacheKey(String(stored[0].key.identity.reversed()))
        try await base.apply([.remove(key: stored[0].key), .write(key: name, data: stored[0].data)])
        for (collection, readable) in [(a as any StorageEngine, [2]), (b, [3])] {
            let found = try await ObjectStorage<Int>(storage: collection).fetchAllObjects()
            #expect(found.objects == readable)
            #expect(found.undecodable.map(\.code) == [.decryptionFailed])
            #expect(try await collection.fetchCount() == 2)
        }
        let unreadable = try #require(try await a.fetchKeys().first { $0 != CacheKey("2") })
        try await a.removeAllData()
        #expect(try await a.fetchKeys() == [unreadable])
        #expect(try await b.fetchKeys().contains(CacheKey("3")))
        try await a.remove(key: unreadable)
        #expect(try await a.fetchCount() == 0)
        #expect(try await b.fetchKeys() == [CacheKey("3")])
    }

    @Test func `The keyset of the items can be rotated`() async throws {
        let engine = engine()
        try await engine.write((0..<300).map { (CacheKey("\($0)"), Data("\($0)".utf8)) })
        let names = try await base.fetchKeys()
        var rotated = keyset
        try rotated.makePrimary(rotated.addKey())
        engine.encryptedItems.use(rotated)
        #expect(try await engine.encryptedItems.reencrypt().count == 300)
        try rotated.removeKey(keyset.primaryKeyID)
        engine.encryptedItems.use(rotated)
        #expect(try await base.fetchKeys() == names)
        #expect(try await engine.fetch(key: CacheKey("299")) == Data("299".utf8))
    }
}
