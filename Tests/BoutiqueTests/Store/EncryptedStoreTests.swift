import Bodega
import BodegaTesting
import Boutique
import Foundation
import Logging
import TestSupport
import Testing

/// Records that an engine can't read, because they can't be decrypted, in a store.
@MainActor
@Suite struct EncryptedStoreTests {
    nonisolated static let kinds = ["memory", "disk", "sqlite"]
    let folder = TemporaryFolder()
    let keyset = EncryptionKeyset()

    private func base(_ kind: String) throws -> any StorageEngine {
        kind == "memory" ? MemoryStorageEngine() : try openEngine(kind, at: folder, .relaxed)
    }

    private func encrypted(_ base: any StorageEngine) -> any StorageEngine {
        func wrapped(_ base: some StorageEngine) -> any StorageEngine { base.encrypted(with: keyset) }
        return wrapped(base)
    }

    /// Flips a bit of a stored record, and returns its bytes.
    @discardableResult
    private func damage(_ key: String, in base: any StorageEngine) async throws -> Data {
        var data = try #require(try await base.fetch(key: CacheKey(key)))
        data[data.endIndex - 1] ^= 1
        try await base.write(data, key: CacheKey(key))
        return data
    }

    /// Writes the notes a, b and c, and damages b.
    private func damagedStore(on base: any StorageEngine) async throws -> Store<Note> {
        try await Store<Note>(storage: encrypted(base)).insert(notes("a", "b", "c"))
        try await damage("b", in: base)
        return try await Store<Note>(storage: encrypted(base))
    }

    // MARK: Loading

    @Test("A store loads all items but those that can't be decrypted, and reports these", arguments: kinds)
    func loading(kind: String) async throws {
        let base = try base(kind)
        let store = try await damagedStore(on: base)
        #expect(store.items == notes("a", "c"))
        #expect(store.undecodable.map(\.key) == [CacheKey("b")])
        #expect(store.undecodable.map(\.code) == [.decryptionFailed])
        guard case .loaded = store.state else {
            Issue.record("\(store.state)")
            return
        }

        // Two exchanged records, and one of another key.
        let (a, c) = (try await base.fetch(key: CacheKey("a")), try await base.fetch(key: CacheKey("c")))
        try await base.write([(CacheKey("a"), try #require(c)), (CacheKey("c"), try #require(a))])
        try await store.insert(Note(id: "d"))
        let foreign = base.encryptedByAnyKeyset()
        try await foreign.write(JSONEncoder().encode(Note(id: "e")), key: CacheKey("e"))
        let again = try await Store<Note>(storage: encrypted(base))
        #expect(again.items == notes("d"))
        let codes = Dictionary(uniqueKeysWithValues: again.undecodable.map { ($0.key?.rawValue, $0.code) })
        #expect(
            codes == [
                "a": .decryptionFailed, "b": .decryptionFailed, "c": .decryptionFailed, "e": .encryptionKeyMissing,
            ])
    }

    @Test("A store of many items that are read in parts loads all but those that can't be decrypted")
    func loadingParts() async throws {
        let base = try base("sqlite")
        let all = (0..<3_000).map { Note(id: "\($0)") }
        try await Store<Note>(storage: encrypted(base)).insert(all)
        for id in ["0", "511", "512", "1700", "2999"] { try await damage(id, in: base) }
        let store = try await Store<Note>(storage: encrypted(base))
        #expect(store.items == all.filter { !["0", "511", "512", "1700", "2999"].contains($0.id) })
        #expect(store.undecodable.compactMap(\.key?.rawValue) == ["0", "511", "512", "1700", "2999"])
    }

    @Test(
        "Wrappers around an encrypted engine pass on which items can't be decrypted", arguments: ["memory", "sqlite"])
    func wrappers(kind: String) async throws {
        for wrapping in Wrapping.allCases {
            let folder = TemporaryFolder()
            let base = kind == "memory" ? MemoryStorageEngine() : try openEngine(kind, at: folder, .relaxed)
            let writer = wrapping == .readOnly ? encrypted(base) : wrapping.wrap(encrypted(base))
            try await Store<Note>(storage: writer).insert(notes("a", "b", "c"))
            try await damage(wrapping == .prefixed ? "notes/b" : wrapping == .several ? "a/b" : "b", in: base)
            let store = try await Store<Note>(storage: wrapping.wrap(encrypted(base)))
            #expect(store.items == notes("a", "c"), "\(wrapping)")
            #expect(store.undecodable.map(\.key) == [CacheKey("b")], "\(wrapping)")
            let found = try await ObjectStorage<Note>(storage: wrapping.wrap(encrypted(base))).fetchAllObjects()
            #expect(found.objects == notes("a", "c") && found.undecodable.map(\.key) == [CacheKey("b")])
        }
    }

    @Test("A store with the wrong keyset reports all records, and changes none")
    func wrongKeyset() async throws {
        let base = try base("sqlite")
        try await Store<Note>(storage: encrypted(base)).insert(notes("a", "b"))
        let before = try await base.fetchAllData()
        let store = try await Store<Note>(storage: base.encryptedByAnyKeyset())
        #expect(store.items.isEmpty && store.undecodable.map(\.code) == [.encryptionKeyMissing, .encryptionKeyMissing])
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "a")) }
        try await store.removeAll()
        #expect(try await base.fetchAllData() == before)
    }

    @Test("A store with another keyset that lacks a key shows the items after it got the key")
    func completedKeyset() async throws {
        let engine = MemoryStorageEngine().encrypted(with: keyset)
        try await Store<Note>(storage: engine).insert(notes("a", "b"))
        engine.use(EncryptionKeyset())
        let store = try await Store<Note>(storage: engine)
        #expect(store.undecodable.count == 2)
        engine.use(keyset)
        try await store.reload()
        #expect(store.items == notes("a", "b") && store.undecodable.isEmpty)
    }

    // MARK: Writing

    @Test("Nothing overwrites or removes a record that can't be decrypted", arguments: kinds)
    func writing(kind: String) async throws {
        let base = try base(kind)
        let store = try await damagedStore(on: base)
        let damaged = try await base.fetch(key: CacheKey("b"))
        let error = await #expect(throws: StorageError.self) { try await store.insert(Note(id: "b", text: "new")) }
        #expect(error?.code == .decryptionFailed && error?.key == CacheKey("b"))
        #expect(error?.message.contains("removeUndecodable") == true)
        // The batch of other operations is not affected.
        try await store.insert(Note(id: "d"))
        try await store.remove(id: "b")
        try await store.remove(id: "a")
        #expect(store.items == notes("c", "d"))
        try await store.removeAll()
        #expect(store.items.isEmpty && store.undecodable.map(\.key) == [CacheKey("b")])
        #expect(try await base.fetchKeys() == [CacheKey("b")])
        #expect(try await base.fetch(key: CacheKey("b")) == damaged)
    }

    @Test("Records that can't be decrypted have no data to export, and can be removed", arguments: kinds)
    func removal(kind: String) async throws {
        let base = try base(kind)
        let store = try await damagedStore(on: base)
        try await encrypted(base).write(Data("garbage".utf8), key: CacheKey("odd"))
        try await store.reload()
        #expect(Set(store.undecodable.map(\.key)) == [CacheKey("b"), CacheKey("odd")])
        #expect(try await store.undecodableData().map(\.key) == [CacheKey("odd")])
        try await store.removeUndecodable()
        #expect(store.undecodable.isEmpty)
        #expect(try await base.fetchKeys() == [CacheKey("a"), CacheKey("c")])
        try await store.insert(Note(id: "b", text: "new"))
        #expect(try await Store<Note>(storage: encrypted(base)).items.map(\.id) == ["a", "c", "b"])
    }

    // MARK: Changes of others

    @Test("A record that another program damages or repairs is reported or shown", arguments: ["memory", "sqlite"])
    func foreignChanges(kind: String) async throws {
        let base = try base(kind)
        let store = try await damagedStore(on: base)
        let other = encrypted(base)
        try await damage("c", in: base)
        #expect(try await eventually { store.items == notes("a") })
        #expect(store.undecodable.map(\.key) == [CacheKey("b"), CacheKey("c")])
        try await other.write(JSONEncoder().encode(Note(id: "b", text: "repaired")), key: CacheKey("b"))
        #expect(try await eventually { store.items.map(\.text) == ["", "repaired"] })
        #expect(store.undecodable.map(\.key) == [CacheKey("c")])
        try await other.remove(key: CacheKey("c"))
        #expect(try await eventually { store.undecodable.isEmpty })
    }

    @Test("A repaired record is not removed with those that can't be decrypted", arguments: kinds)
    func removalOfRepaired(kind: String) async throws {
        let base = try base(kind)
        _ = try await damagedStore(on: base)
        let store = try await Store<Note>(storage: WithoutLog(encrypted(base).backend))
        #expect(store.undecodable.map(\.key) == [CacheKey("b")])
        try await encrypted(base).write(JSONEncoder().encode(Note(id: "b", text: "repaired")), key: CacheKey("b"))
        try await store.removeUndecodable()
        #expect(store.items.map(\.text) == ["", "repaired", ""] && store.undecodable.isEmpty)
    }

    // MARK: Engines of others

    @Test("An engine of another package whose items can't be decoded does not take the others with them")
    func thirdParty() async throws {
        let base = MemoryStorageEngine()
        let engine = ReversingEngine(base: base)
        try await Store<Note>(storage: engine).insert(notes("a", "b", "c"))
        try await base.write(Data("!".utf8), key: CacheKey("b"))
        let store = try await Store<Note>(storage: engine)
        #expect(store.items == notes("a", "c"))
        #expect(store.undecodable.map(\.code) == [.decodingFailed])
        #expect(store.undecodable.first?.cause is ReversingEngine.NotReversed)
        await #expect(throws: StorageError.self) { try await engine.fetchAll() }
    }

    @Test(
        "A store on an encrypted engine reads the log after its own write only if another origin has written before it")
    func ownCommits() async throws {
        let counting = CountingEngine(try SQLiteStorageEngine(opening: folder.directory))
        let engine = counting.encrypted(with: keyset)
        let store = try await Store<Note>(storage: engine)
        for number in 0..<5 { try await store.insert(Note(id: "\(number)")) }
        #expect(counting.reads == 0)
        try await counting.engine.encrypted(with: keyset).write(
            JSONEncoder().encode(Note(id: "other")), key: CacheKey("other"))
        try await store.insert(Note(id: "5"))
        #expect(counting.reads > 0)
        #expect(store.items.map(\.id) == ["0", "1", "2", "3", "4", "other", "5"])
    }
}

private enum Wrapping: CaseIterable {
    case retrying, cached, limited, prefixed, expiring, mirrored, logged, readOnly, several

    func wrap(_ engine: some StorageEngine) -> any StorageEngine {
        switch self {
        case .retrying: engine.retrying()
        case .cached: engine.cached(count: 10)
        case .limited: engine.limited(count: 1_000)
        case .prefixed: engine.prefixed("notes")
        case .expiring: engine.expiring(after: .seconds(1_000))
        case .mirrored: engine.mirrored(to: MemoryStorageEngine())
        case .logged: engine.logged(by: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
        case .readOnly: engine.readOnly()
        case .several: engine.retrying().prefixed("a").expiring(after: .seconds(1_000)).cached(count: 10)
        }
    }
}

extension StorageEngine {
    /// The engine with items that are encrypted with a keyset that no test has.
    fileprivate func encryptedByAnyKeyset() -> any StorageEngine { encrypted(with: EncryptionKeyset()) }
}

/// An engine as another package may write it: it throws errors of its own.
private struct ReversingEngine: TransformingStorageEngine {
    struct NotReversed: Error {}
    let base: any StorageBackend

    func encode(_ data: Data, key: CacheKey) -> Data { Data("!".utf8) + Data(data.reversed()) }

    func decode(_ stored: Data, key: CacheKey) throws -> Data? {
        guard stored.count > 1, stored.first == UInt8(ascii: "!") else { throw NotReversed() }
        return Data(stored.dropFirst().reversed())
    }
}
