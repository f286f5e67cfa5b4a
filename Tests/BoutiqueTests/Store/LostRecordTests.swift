import Bodega
import BodegaTesting
import Boutique
import Foundation
import Logging
import TestSupport
import Testing

/// Stores on engines that lose records on their own: they evict them to keep within limits, or let them expire. After
/// each awaited operation, the store has the items of the engine, and both have those of an array.
@MainActor
@Suite struct LostRecordTests {
    /// The number of items that the engines keep.
    nonisolated static let limit = 10

    /// An engine with a limit, in different positions among other wrappers.
    enum Composition: String, CaseIterable {
        case limited, cachedOutside, cachedInside, encryptedOutside, encryptedInside, hidingKeys, prefixed, retrying
        case mirrored, mirroredFirst, limitedMirror, expiring, twice, own

        func wrap(_ base: some StorageBackend) -> any StorageEngine {
            if self == .own { return EvictingEngine(base: base, limit: LostRecordTests.limit) }
            return wrap(withoutLog: base)
        }

        func wrap(withoutLog base: some StorageEngine) -> any StorageEngine {
            let limit = LostRecordTests.limit
            return switch self {
            case .limited, .own: base.limited(count: limit)
            case .cachedOutside: base.limited(count: limit).cached(count: 5)
            case .cachedInside: base.cached(count: 5).limited(count: limit)
            case .encryptedOutside: base.limited(count: limit).encrypted(with: EncryptionKeyset())
            case .encryptedInside: base.encrypted(with: EncryptionKeyset()).limited(count: limit)
            case .hidingKeys:
                base.limited(count: limit).encrypted(with: EncryptionKeyset(), hidingKeysWith: EncryptionKeyset())
            case .prefixed: base.limited(count: limit).prefixed("notes")
            case .retrying:
                base.limited(count: limit).retrying()
                    .logged(by: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
            case .mirrored: base.limited(count: limit).mirrored(to: MemoryStorageEngine())
            case .mirroredFirst:
                base.mirrored(to: MemoryStorageEngine(), readingMirror: .first).limited(count: limit)
            case .limitedMirror:
                base.limited(count: limit).mirrored(to: MemoryStorageEngine().limited(count: 4), readingMirror: .first)
            case .expiring: base.limited(count: limit).expiring(after: .seconds(3_600))
            case .twice: base.limited(count: limit).limited(count: limit + 5)
            }
        }
    }

    private func engine(_ composition: Composition, _ kind: String, in folder: TemporaryFolder) throws
        -> any StorageEngine
    {
        switch kind {
        case "memory": composition.wrap(MemoryStorageEngine())
        case "sqlite":
            composition.wrap(try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed))
        default:
            composition.wrap(
                withoutLog: try DiskStorageEngine(opening: folder.directory, durability: .relaxed))
        }
    }

    @Test(arguments: ["memory", "sqlite", "disk"], Composition.allCases)
    func `A store has the items of an engine that makes room for its writes`(
        _ kind: String, _ composition: Composition
    ) async throws {
        let seed = Seed.current
        var generator = SeededGenerator(seed: seed)
        let folder = TemporaryFolder()
        let engine = try engine(composition, kind, in: folder)
        let store = try await Store<Note>(storage: engine)
        // The oracle: the items in the order in which they were added.
        var expected: [Note] = []
        func add(_ note: Note) {
            if let place = expected.firstIndex(where: { $0.id == note.id }) {
                expected[place] = note
            } else {
                expected.append(note)
            }
        }
        for step in 0..<(kind == "memory" ? 300 : 100) {
            let count = [1, 1, 1, 3, 6].randomElement(using: &generator) ?? 1
            let new = Array((0..<400).shuffled(using: &generator).prefix(count)).map { Note(id: "\($0)", count: step) }
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                let removed = expected.randomElement(using: &generator) ?? new[0]
                try await store.remove(removed)
                expected.removeAll { $0.id == removed.id }
            case 1..<4:
                // An update of an item that is shown.
                var note = expected.randomElement(using: &generator) ?? new[0]
                note.text = "updated in step \(step)"
                try await store.insert(note)
                add(note)
            case 4:
                try await store.transaction { transaction in
                    for note in new { transaction.insert(note) }
                }
                new.forEach(add)
            case 5 where step % 3 == 0:
                try await store.removeAll()
                expected = []
            default:
                try await store.insert(new)
                new.forEach(add)
            }
            let written = Set(new.map(\.id))
            // A limited engine never removes what the call writes.
            let mayRemove = { (note: Note) in engine is any OldestFirst || !written.contains(note.id) }
            while expected.count > Self.limit, let oldest = expected.firstIndex(where: mayRemove) {
                expected.remove(at: oldest)
            }
            try #require(store.items == expected, "step \(step), seed \(seed)")
            let stored = try await storedNotes(in: engine)
            try #require(Set(stored.map(\.id)) == Set(expected.map(\.id)), "step \(step), seed \(seed)")
        }
    }

    @Test(arguments: ["memory", "sqlite"])
    func `Two stores on one limited engine show the evictions of both`(_ kind: String) async throws {
        let folder = TemporaryFolder()
        let engine = try engine(.limited, kind, in: folder)
        let stores = [try await Store<Note>(storage: engine), try await Store<Note>(storage: engine)]
        for number in 0..<100 {
            let store = stores[number % 3 == 0 ? 0 : 1]
            try await store.insert(Note(id: "\(number)"))
            let expected = (max(0, number - 9)...number).map { Note(id: "\($0)") }
            #expect(store.items == expected)
        }
        for store in stores {
            try await waitUntil("the store showed all changes") {
                store.items == (90..<100).map { Note(id: "\($0)") }
            }
        }
    }

    @Test(arguments: ["memory", "disk"]) func `Operations that share a batch larger than the limit are written alone`(
        _ kind: String
    ) async throws {
        let folder = TemporaryFolder()
        let engine = try engine(.limited, kind, in: folder)
        let store = try await Store<Note>(storage: engine)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 { group.addTask { try await store.insert(Note(id: "\(number)")) } }
            try await group.waitForAll()
        }
        let stored = try await storedNotes(in: engine)
        #expect(stored.count == 10)
        #expect(store.items == stored)
    }

    @Test(arguments: [true, false])
    func `After a failed write, the store has the items of the engine, with any evictions`(
        _ wasApplied: Bool
    ) async throws {
        let faulty = FaultInjectingStorageEngine(AnyStorageEngine(base: MemoryStorageEngine()))
        let engine = faulty.limited(count: Self.limit)
        let store = try await Store<Note>(storage: engine)
        for number in 0..<10 { try await store.insert(Note(id: "\(number)")) }
        let error = StorageError(.inputOutput, "The connection was lost.")
        faulty.inject(wasApplied ? .failAfterwards([.apply], with: error) : .fail([.apply], with: error))
        let failure = await #expect(throws: StorageError.self) { try await store.insert(Note(id: "new")) }
        #expect(failure?.code == .inputOutput)
        faulty.clearFaults()
        try await store.reload()
        #expect(try await store.items == storedNotes(in: engine))
        try await store.insert(Note(id: "next"))
        #expect(try await store.items == storedNotes(in: engine))
        #expect(store.items.last?.id == "next")
    }

    @Test(arguments: ["memory", "sqlite", "disk"])
    func `A store does not show items that had expired when its operation ended`(_ kind: String) async throws {
        let seed = Seed.current
        var generator = SeededGenerator(seed: seed)
        let (folder, clock) = (TemporaryFolder(), ManualClock())
        func expiring(_ base: some StorageEngine) -> any StorageEngine {
            base.expiring(after: .seconds(10), now: clock.now)
        }
        let engine: any StorageEngine =
            switch kind {
            case "memory": expiring(MemoryStorageEngine())
            case "sqlite": expiring(try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed))
            default: expiring(try DiskStorageEngine(opening: folder.directory, durability: .relaxed))
            }
        try await engine.write(JSONEncoder().encode(Note(id: "old")), key: CacheKey("old"))
        let store = try await Store<Note>(storage: engine)
        #expect(store.items == [Note(id: "old")])
        var expected: [String: Date] = ["old": clock.current + 10]
        for step in 0..<100 {
            clock.advance(by: Double(Int.random(in: 0...4, using: &generator)))
            let id = "\(Int.random(in: 0..<30, using: &generator))"
            if Int.random(in: 0..<5, using: &generator) == 0 {
                try await store.remove(Note(id: id))
                expected[id] = nil
            } else {
                try await store.insert(Note(id: id, count: step))
                expected[id] = clock.current + 10
            }
            let now = clock.current
            expected = expected.filter { $0.value > now }
            try #require(Set(store.items.map(\.id)) == Set(expected.keys), "step \(step), seed \(seed)")
            let stored = try await storedNotes(in: engine)
            try #require(Set(stored.map(\.id)) == Set(expected.keys), "step \(step), seed \(seed)")
        }
    }
}

/// An engine that removes the oldest items after any write.
private protocol OldestFirst {}

/// A wrapper as the guide shows one, which removes the oldest items after each write.
private struct EvictingEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let limit: Int

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        var answer = try await body()
        guard call.isWrite else { return answer }
        let keys = try await base.fetchKeys()
        if keys.count > limit {
            let evicted = keys.prefix(keys.count - limit)
            try await base.remove(keys: Array(evicted))
            answer.report.evicted.formUnion(evicted)
        }
        return answer
    }
}

extension EvictingEngine: OldestFirst {}
