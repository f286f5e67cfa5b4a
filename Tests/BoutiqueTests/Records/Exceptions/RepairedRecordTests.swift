import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Reported records that another program has changed since the store read them, and their places in the order.
@MainActor
@Suite struct RepairedRecordTests {
    nonisolated static let kinds = ["memory", "disk", "sqlite"]
    let garbage = Data("{\"unexpected\": true}".utf8)
    let folder = TemporaryFolder()

    private func engine(_ kind: String) throws -> any StorageEngine {
        kind == "memory" ? MemoryStorageEngine() : try openEngine(kind, at: folder, .relaxed)
    }

    /// Opens a store that does not follow the changes of other programs.
    private func unfollowingStore(_ engine: any StorageEngine) async throws -> Store<Note> {
        try await Store(storage: AnyStorageEngine(base: engine))
    }

    /// Opens such a store in which a note is identified by its text.
    private func unfollowingStoreOfTexts(_ engine: any StorageEngine) async throws -> Store<Note> {
        try await Store(storage: AnyStorageEngine(base: engine), cacheIdentifier: \.text)
    }

    private func write(_ note: Note, _ key: String, to engine: any StorageEngine) async throws {
        try await engine.write(JSONEncoder().encode(note), key: CacheKey(key))
    }

    // MARK: Copies

    @Test("An item that replaces a repaired record stays removed", arguments: kinds)
    func repaired(kind: String) async throws {
        let engine = try engine(kind)
        try await engine.write(garbage, key: CacheKey("odd"))
        let store = try await unfollowingStore(engine)
        try await write(Note(id: "odd", text: "repaired"), "odd", to: engine)
        try await store.insert(Note(id: "odd", text: "mine"))
        #expect(store.undecodable.isEmpty)
        #expect(try await agreedNotes(store, engine).map(\.text) == ["mine"])
        try await store.remove(id: "odd")
        #expect(try await unfollowingStore(engine).items.isEmpty)
        #expect(try await engine.fetchCount() == 0)
    }

    @Test(
        "An item stays removed whether or not the store had seen the repair of its record",
        arguments: ["memory", "sqlite"])
    func repairedConcurrently(kind: String) async throws {
        let engine = try engine(kind)
        let store = try await Store<Note>(storage: engine)
        for round in 0..<30 {
            let id = "odd \(round)"
            try await engine.write(garbage, key: CacheKey(id))
            try #require(try await eventually { store.undecodable.contains { $0.key == CacheKey(id) } })
            try await write(Note(id: id, text: "repaired"), id, to: engine)
            for _ in 0..<(round % 4) { await Task.yield() }
            if round % 2 == 0 { try await store.insert(Note(id: id, text: "mine")) }
            try await store.remove(id: id)
            #expect(try await unfollowingStore(engine).items.isEmpty)
        }
        #expect(try await eventually { store.items.isEmpty && store.undecodable.isEmpty })
        #expect(try await engine.fetchCount() == 0)
    }

    @Test("A repaired record that is not shown yet is removed like any other item", arguments: kinds)
    func removalOfRepaired(kind: String) async throws {
        let engine = try engine(kind)
        try await engine.write([(CacheKey("odd"), garbage), (CacheKey("strange"), garbage)])
        let store = try await unfollowingStore(engine)
        try await write(Note(id: "odd"), "odd", to: engine)
        try await write(Note(id: "new"), "new", to: engine)
        try await store.remove(id: "odd").remove(id: "new").remove(id: "strange").run()
        #expect(try await engine.fetchKeys() == [CacheKey("strange")])
        #expect(store.undecodable.map(\.key) == [CacheKey("strange")])
    }

    @Test("A record that has become another item is kept, and removed with that item", arguments: kinds)
    func otherItem(kind: String) async throws {
        let engine = try engine(kind)
        try await engine.write(garbage, key: CacheKey("odd"))
        let store = try await unfollowingStore(engine)
        try await write(Note(id: "other"), "odd", to: engine)
        try await store.insert(Note(id: "odd"))
        #expect(try await eventually { Set(store.items.map(\.id)) == ["odd", "other"] })
        #expect(store.undecodable.isEmpty)
        #expect(try await Set(unfollowingStore(engine).items.map(\.id)) == ["odd", "other"])
        try await store.remove(id: "other")
        #expect(try await unfollowingStore(engine).items.map(\.id) == ["odd"])
    }

    @Test("A duplicate that another program has replaced is not removed with the item", arguments: kinds)
    func replacedDuplicate(kind: String) async throws {
        let engine = try engine(kind)
        for key in ["1", "2", "3"] { try await write(Note(id: key, text: "x"), key, to: engine) }
        let store = try await unfollowingStoreOfTexts(engine)
        #expect(Set(store.undecodable.map(\.key)) == [CacheKey("2"), CacheKey("3")])
        try await write(Note(id: "2", text: "2"), "2", to: engine)
        try await engine.write(garbage, key: CacheKey("3"))
        try await store.remove(id: "x")
        #expect(store.undecodable.map(\.key) == [CacheKey("3")])
        #expect(try await engine.fetchKeys() == [CacheKey("2"), CacheKey("3")])
        // An item that is inserted under this key moves the current record.
        try await store.insert(Note(id: "new", text: "3"))
        try await store.remove(id: "3")
        #expect(try await store.undecodableData().map(\.data) == [garbage])
    }

    @Test("Removing duplicates keeps an item that another program has written over one of them", arguments: kinds)
    func removalOfReplacedDuplicate(kind: String) async throws {
        let engine = try engine(kind)
        for key in ["1", "2"] { try await write(Note(id: key, text: "x"), key, to: engine) }
        let store = try await unfollowingStoreOfTexts(engine)
        try await write(Note(id: "acknowledged", text: "2"), "2", to: engine)
        try await store.removeUndecodable()
        #expect(Set(store.items.map(\.text)) == ["x", "2"])
    }

    @Test("A failed write over a repaired record restores the repaired record", arguments: kinds)
    func undoOverRepaired(kind: String) async throws {
        let engine = try engine(kind)
        try await engine.write(garbage, key: CacheKey("odd"))
        let faulty = FaultInjectingStorageEngine(AnyStorageEngine(base: engine))
        let store = try await Store<Note>(storage: faulty)
        try await write(Note(id: "odd", text: "repaired"), "odd", to: engine)
        faulty.inject(.failAfterwards(.writes, .number(1)))
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "odd", text: "mine")) }
        #expect(try await storedNotes(in: engine).map(\.text) == ["repaired"])
    }

    @Test("A failed removal restores a file of the first Bodega under its own key", arguments: [1, 2, 3])
    func undoOfBareFile(applied: Int) async throws {
        let engine = try engine("disk")
        let key = CacheKey(verbatim: CacheKey("a").value)
        try JSONEncoder().encode(Note(id: "a")).write(to: folder.file(key.rawValue))
        try await engine.write(garbage, key: CacheKey("odd"))
        let faulty = FaultInjectingStorageEngine(AnyStorageEngine(base: engine))
        let store = try await Store<Note>(storage: faulty)
        faulty.inject(.tear(afterFirst: applied, .number(1)))
        await #expect(throws: StorageError.self) { try await store.insert(notes("b", "c")).remove(id: "a").run() }
        #expect(Set(try await engine.fetchKeys()) == [key, CacheKey("odd")])
        try await store.removeAll()
        #expect(try await engine.fetchKeys() == [CacheKey("odd")])
    }

    @Test("A repaired file of the first Bodega is removed under its own key, and restored there after a failure")
    func undoOfRepairedBareFile() async throws {
        let engine = try engine("disk")
        let key = CacheKey(verbatim: CacheKey("a").value)
        try garbage.write(to: folder.file(key.rawValue))
        let faulty = FaultInjectingStorageEngine(AnyStorageEngine(base: engine))
        let store = try await Store<Note>(storage: faulty)
        try await engine.write(JSONEncoder().encode(Note(id: "a")), key: key)
        faulty.inject(.failAfterwards(.writes, .number(1)))
        await #expect(throws: StorageError.self) { try await store.remove(id: "a") }
        #expect(try await engine.fetchKeys() == [key])
        #expect(store.undecodable.map(\.key) == [key])
        try await store.remove(id: "a")
        #expect(try await engine.fetchCount() == 0)
        #expect(store.undecodable.isEmpty)
    }

    // MARK: Order

    @Test("An item that replaces an undecodable record is the last one, also after a relaunch", arguments: kinds)
    func order(kind: String) async throws {
        let engine = try engine(kind)
        try await engine.write([(CacheKey("a"), garbage)])
        for id in ["b", "c"] { try await write(Note(id: id), id, to: engine) }
        let store = try await Store<Note>(storage: engine)
        try await store.insert(Note(id: "a"))
        #expect(store.items == notes("b", "c", "a"))
        #expect(try await Store<Note>(storage: engine).items == notes("b", "c", "a"))
    }

    @Test("An item that replaces a file of the first Bodega is the last one, also after a relaunch")
    func orderOfBareFile() async throws {
        try garbage.write(to: folder.file(CacheKey("a").value))
        let store = try await Store<Note>(storage: try engine("disk"))
        try await store.insert(notes("b", "a"))
        #expect(store.items == notes("b", "a"))
        #expect(try await Store<Note>(storage: try engine("disk")).items == notes("b", "a"))
        #expect(try await store.undecodableData().map(\.data) == [garbage])
    }

    @Test(
        "A record that another program repairs is shown in its place in the engine", arguments: [false, true])
    func orderOfRepaired(hasOwnItem: Bool) async throws {
        for kind in ["memory", "sqlite"] {
            let engine = try engine(kind)
            try await engine.write([(CacheKey("a"), garbage)])
            for id in ["b", "c"] { try await write(Note(id: id), id, to: engine) }
            let store = try await Store<Note>(storage: engine)
            try await write(Note(id: "a", text: "repaired"), "a", to: engine)
            if hasOwnItem { try await store.insert(Note(id: "own")) }
            #expect(try await eventually { store.items.first?.id == "a" })
            #expect(try await agreedNotes(store, engine).map(\.id) == ["a", "b", "c"] + (hasOwnItem ? ["own"] : []))
        }
    }

    @Test(
        "After any changes of undecodable records by several programs, the shown and the stored order agree",
        arguments: ["memory", "sqlite"])
    func model(kind: String) async throws {
        print("order with undecodable records in \(kind): EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let ids = ["a", "b", "c", "d", "e", "f"]
        for round in 0..<(kind == "memory" ? 60 : 15) {
            let folder = TemporaryFolder()
            let engine: any StorageEngine =
                kind == "memory" ? MemoryStorageEngine() : try openEngine(kind, at: folder, .relaxed)
            let store = try await Store<Note>(storage: engine)
            for step in 0..<25 {
                let id = ids.randomElement(using: &random) ?? "a"
                switch Int.random(in: 0..<9, using: &random) {
                case 0...2: try await store.insert(Note(id: id, text: "own \(step)"))
                case 3: try await store.remove(id: id)
                case 4: try await engine.remove(key: CacheKey(id))
                case 5, 6: try await engine.write(garbage, key: CacheKey(id))
                case 7: try await write(Note(id: id, text: "theirs \(step)"), id, to: engine)
                default:
                    try await store.transaction {
                        $0.remove(id: id); $0.insert(Note(id: id))
                    }
                }
                if Bool.random(using: &random) { await Task.yield() }
            }
            // The store follows the engine, so they agree eventually.
            let fresh = try await unfollowingStore(engine)
            let reported = Set(fresh.undecodable.map(\.key))
            let isSame = try await eventually {
                store.items == fresh.items && Set(store.undecodable.map(\.key)) == reported
            }
            #expect(isSame, "round \(round): shown \(store.items.map(\.id)), stored \(fresh.items.map(\.id))")
            #expect(try await engine.fetchCount() == fresh.items.count + reported.count)
            if !isSame { return }
        }
    }
}
