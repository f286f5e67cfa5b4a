import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Encrypted items under attack, and the rotation of keys.
struct ItemEncryptionTests {

    private let base = MemoryStorageEngine()
    private let keyset = EncryptionKeyset()

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    @Test func `Every changed bit and every missing byte is an error of that item alone`() async throws {
        let engine = base.encrypted(with: keyset)
        let (key, other) = (CacheKey("a"), CacheKey("b"))
        try await engine.write([(key, Data("secret".utf8)), (other, Data("other".utf8))])
        let stored = try #require(try await base.fetch(key: key))
        // The version, the key's identifier, the nonce, the item and the tag.
        let size = [1, 4, 12, 6, 16].reduce(0, +)
        #expect(stored.count == size)
        for bit in 0..<(stored.count * 8) {
            var changed = stored
            changed[changed.startIndex + bit / 8] ^= 1 << (bit % 8)
            try await base.write(changed, key: key)
            let error = await #expect(throws: StorageError.self) { try await engine.fetch(key: key) }
            let isKeyID = (8..<40).contains(bit)
            #expect(error?.code == (isKeyID ? .encryptionKeyMissing : .decryptionFailed), "bit \(bit)")
            #expect(error?.key == key)
            #expect(await code { try await engine.fetchAll() } == error?.code)
            #expect(await engine.read(key: key) == nil)
            #expect(try await engine.fetch(key: other) == Data("other".utf8))
        }
        for count in 0..<stored.count {
            try await base.write(stored.prefix(count), key: key)
            #expect(await code { try await engine.fetch(key: key) } == .decryptionFailed)
        }
        try await base.write(stored + [0], key: key)
        #expect(await code { try await engine.fetch(key: key) } == .decryptionFailed)
        try await base.write(stored, key: key)
        #expect(try await engine.fetch(key: key) == Data("secret".utf8))
    }

    @Test func `Items that are exchanged, moved or from another collection are errors`() async throws {
        let engine = base.encrypted(with: keyset, collection: "notes")
        let keys = [CacheKey("a"), CacheKey("b"), CacheKey(verbatim: "a"), CacheKey(rawValue: "a", kind: .url)]
        try await engine.write(keys.enumerated().map { ($0.element, Data("\($0.offset)".utf8)) })
        let stored = try await base.fetchAll()
        for (target, _) in stored {
            for (source, data) in stored where source != target {
                try await base.write(data, key: target)
                #expect(await code { try await engine.fetch(key: target) } == .decryptionFailed)
            }
        }
        try await base.write(stored)
        let other = base.encrypted(with: keyset, collection: "letters")
        #expect(await code { try await other.fetch(key: keys[0]) } == .decryptionFailed)
        #expect(try await engine.fetchAllData() == (0..<4).map { Data("\($0)".utf8) })
    }

    @Test func `Nothing of an item is stored, and equal items are stored as different bytes`() async throws {
        let engine = base.encrypted(with: keyset)
        let text = Data("a text that is easily recognized".utf8)
        try await engine.write([(CacheKey("a"), text), (CacheKey("b"), text)])
        let stored = try await base.fetchAllData()
        #expect(stored[0] != stored[1])
        #expect(stored.allSatisfy { $0.range(of: text.prefix(4)) == nil })
    }

    // MARK: Keysets

    @Test func `A keyset is the same after it was written as JSON and read`() throws {
        var keyset = keyset
        let second = keyset.addKey()
        try keyset.makePrimary(second)
        let copy = try EncryptionKeyset(json: try keyset.json())
        #expect(copy.primaryKeyID == second && copy.keyIDs == keyset.keyIDs && copy.keyIDs.count == 2)
        #expect(try copy.json() == keyset.json())
    }

    @Test func `Invalid keysets are refused, and errors contain no keys`() throws {
        let json = String(decoding: try keyset.json(), as: UTF8.self)
        let value = try #require(json.split(separator: "\"").first { $0.hasPrefix("Gi") && $0.count > 40 })
        func change(_ old: String, _ new: String) -> String { json.replacingOccurrences(of: old, with: new) }
        let invalid = [
            "", "{}", "[]", "nonsense", json + "}", change("AesGcmKey", "AesSivKey"), change("TINK", "RAW"),
            change("\"ENABLED\"", "\"DISABLED\""), change("\"ENABLED\"", "\"DESTROYED\""),
            change(String(value), ""), change(String(value), "GiA="), change(String(value), "CAE" + value),
            change("\"primaryKeyId\" : \(keyset.primaryKeyID)", "\"primaryKeyId\" : 1"),
            change("\"primaryKeyId\" : \(keyset.primaryKeyID)", "\"primaryKeyId\" : -1"),
        ]
        for json in invalid {
            let error = #expect(throws: StorageError.self) { try EncryptionKeyset(json: Data(json.utf8)) }
            #expect(error?.code == .invalidArgument, "\(json)")
            #expect(error.map { !"\($0)".contains(value) } == true)
        }
        var text = "\(keyset) \(String(reflecting: keyset))"
        dump(keyset, to: &text)
        dump(base.encrypted(with: keyset), to: &text)
        #expect(!text.contains(value) && !text.contains("SymmetricKey"))
    }

    @Test func `The primary key can't be removed, and unknown keys neither removed nor made primary`() throws {
        var keyset = keyset
        #expect(throws: StorageError.self) { try keyset.removeKey(keyset.primaryKeyID) }
        #expect(throws: StorageError.self) { try keyset.removeKey(0) }
        #expect(throws: StorageError.self) { try keyset.makePrimary(0) }
        #expect(keyset.keyIDs == [keyset.primaryKeyID])
    }

    // MARK: Rotation

    @Test func `A new primary key encrypts, and the old one decrypts until it is removed`() async throws {
        let engine = base.encrypted(with: keyset)
        let (old, new) = (CacheKey("old"), CacheKey("new"))
        try await engine.write(Data("1".utf8), key: old)
        var rotated = keyset
        try rotated.makePrimary(rotated.addKey())
        engine.use(rotated)
        try await engine.write(Data("2".utf8), key: new)
        #expect(try await engine.fetchAllData() == [Data("1".utf8), Data("2".utf8)])

        let formerOnly = base.encrypted(with: keyset)
        #expect(await code { try await formerOnly.fetch(key: new) } == .encryptionKeyMissing)

        let result = try await engine.reencrypt()
        #expect(result.count == 1 && result.errors.isEmpty)
        #expect(try await engine.reencrypt().count == 0)
        try rotated.removeKey(keyset.primaryKeyID)
        engine.use(rotated)
        #expect(try await engine.fetchAllData() == [Data("1".utf8), Data("2".utf8)])
    }

    @Test func `Items that can't be decrypted remain as they are when others are encrypted again`() async throws {
        let engine = base.encrypted(with: keyset)
        try await engine.write((0..<500).map { (CacheKey("\($0)"), Data("\($0)".utf8)) })
        let foreign = Data("not encrypted, and long enough to be an item".utf8)
        try await base.write(foreign, key: CacheKey("250"))
        var rotated = keyset
        try rotated.makePrimary(rotated.addKey())
        engine.use(rotated)
        var examined: [Int] = []
        let result = try await engine.reencrypt { count, _ in examined.append(count) }
        #expect(result.count == 499 && result.errors.map(\.key) == [CacheKey("250")])
        #expect(examined.last == 500 && examined.count > 1 && examined == examined.sorted())
        #expect(try await base.fetch(key: CacheKey("250")) == foreign)
    }

    /// Writers increment numbers, with the old or the new key, while another task rotates.
    @Test func `Items are encrypted again while they are in use`() async throws {
        let count = TestSizes.rotatedItems
        let folder = TemporaryFolder()
        let sqlite = try SQLiteStorageEngine(openingFile: folder.file("items.sqlite3"), durability: .relaxed)
        let engine = sqlite.encrypted(with: keyset)
        try await engine.write((0..<count).map { (CacheKey("\($0)"), Data("0".utf8)) })
        let increments = try await withThrowingTaskGroup(of: Int.self) { group in
            let isDone = Counter()
            for writer in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(writer))
                    var number = 0
                    while isDone.count == 0 {
                        let key = CacheKey("\(Int.random(in: 0..<count, using: &generator))")
                        while true {
                            let old = try #require(try await engine.fetch(key: key))
                            let value = Int(String(decoding: old, as: UTF8.self)) ?? -1
                            let write = StorageOperation.write(key: key, data: Data("\(value + 1)".utf8))
                            if try await engine.apply([write], if: [StorageCondition(key: key, data: old)]) { break }
                        }
                        number += 1
                    }
                    return number
                }
            }
            var rotated = keyset
            try rotated.makePrimary(rotated.addKey())
            engine.use(rotated)
            #expect(try await engine.reencrypt().errors.isEmpty)
            isDone.increment()
            return try await group.reduce(0, +)
        }
        var newOnly = engine.keyset
        try newOnly.removeKey(keyset.primaryKeyID)
        engine.use(newOnly)
        let numbers = try await engine.fetchAllData().compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        #expect(numbers.count == count && numbers.reduce(0, +) == increments)
    }

    @Test func `A rotation that is killed is resumed, and every item stays readable`() async throws {
        let seed = Seed.current
        print("kill test of a rotation: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let folder = TemporaryFolder()
        let (file, keysetFile) = (folder.file("items.sqlite3"), folder.file("keyset.json"))
        let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed).encrypted(with: keyset)
        let items = (0..<10_000).map { (key: CacheKey("\($0)"), data: Data("\($0)".utf8)) }
        try await engine.write(items)
        var rotated = keyset
        try rotated.makePrimary(rotated.addKey())
        engine.use(rotated)
        try rotated.json().write(to: keysetFile)
        var kills = 0
        while true {
            let rotation = try Child(["reencrypt", file.path, keysetFile.path])
            var last: String?
            for _ in 0..<(kills < 5 ? Int.random(in: 0...15, using: &random) : .max) {
                guard let line = await rotation.nextLine() else { break }
                last = line
            }
            if last == "done 0" { break }
            #expect(last?.hasPrefix("done") != true, "EMPORIUM_SEED=\(seed)")
            rotation.kill()
            _ = await rotation.lines()
            kills += 1
            let found = try await engine.fetchAll()
            #expect(found.map(\.key) == items.map(\.key), "EMPORIUM_SEED=\(seed)")
            #expect(found.map(\.data) == items.map(\.data), "EMPORIUM_SEED=\(seed)")
        }
        #expect(kills > 0)
        try rotated.removeKey(keyset.primaryKeyID)
        engine.use(rotated)
        #expect(try await engine.fetchAllData() == items.map(\.data))
    }
}
