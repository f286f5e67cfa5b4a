import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Items that Tink has written, and items for Tink to read; see `Tools/Tink/check`.
struct EncryptionVectorTests {

    private struct Item: Codable {
        let collection: String
        let kind: CacheKey.Kind
        let identity: String
        let data: Data
        let stored: Data

        var key: CacheKey { CacheKey(identity: identity, kind: kind) }
    }

    private let folder = Fixtures.file("encryption/tink")
    private let keyset: EncryptionKeyset
    private let items: [Item]

    init() throws {
        keyset = try EncryptionKeyset(json: Data(contentsOf: folder.appendingPathComponent("keyset.json")))
        items = try JSONDecoder().decode(
            [Item].self, from: Data(contentsOf: folder.appendingPathComponent("items.json")))
    }

    @Test func `Items that Tink has encrypted are read`() async throws {
        #expect(items.count == 6)
        for item in items {
            let base = MemoryStorageEngine()
            try await base.write(item.stored, key: item.key)
            let engine = base.encrypted(with: keyset, collection: item.collection)
            #expect(try await engine.fetch(key: item.key) == item.data)
        }
    }

    @Test func `Items of one collection that share all bytes of their names are not exchangeable`() async throws {
        let pair = items.filter { ["dolly", "tesdolly"].contains($0.identity) && $0.kind == .hashed }
        #expect(pair.map { $0.collection + $0.identity } == ["notesdolly", "notesdolly"].map { $0 })
        let base = MemoryStorageEngine()
        try await base.write(pair[0].stored, key: pair[1].key)
        let engine = base.encrypted(with: keyset, collection: pair[1].collection)
        let error = await #expect(throws: StorageError.self) { try await engine.fetch(key: pair[1].key) }
        #expect(error?.code == .decryptionFailed)
    }

    /// Writes items of this version to the folder in `EMPORIUM_ENCRYPTED_ITEMS`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EMPORIUM_ENCRYPTED_ITEMS"] != nil))
    func `Items are written for Tink`() async throws {
        let folder = URL(fileURLWithPath: try #require(ProcessInfo.processInfo.environment["EMPORIUM_ENCRYPTED_ITEMS"]))
        var keyset = EncryptionKeyset()
        var written: [Item] = []
        for kind in CacheKey.Kind.allCases {
            for text in HostileTexts.all {
                let base = MemoryStorageEngine()
                let key = CacheKey(identity: text, kind: kind)
                let data = Data(text.utf8.reversed())
                try await base.encrypted(with: keyset, collection: text).write(data, key: key)
                let stored = try #require(try await base.fetch(key: key))
                written.append(Item(collection: text, kind: kind, identity: text, data: data, stored: stored))
            }
            try keyset.makePrimary(keyset.addKey())
        }
        try JSONEncoder().encode(written).write(to: folder.appendingPathComponent("items.json"))
        try keyset.json().write(to: folder.appendingPathComponent("keyset.json"))
    }
}
