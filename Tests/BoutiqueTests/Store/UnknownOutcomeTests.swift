import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Boutique

/// Writes that fail although the engine has applied them or applies them later. Store and engine agree eventually.
@MainActor
@Suite struct UnknownOutcomeTests {
    let engine = UncertainEngine()

    private func eventuallyAgree(_ store: Store<Note>) async throws -> Bool {
        try await eventually { try await store.items == storedNotes(in: engine.memory) }
    }

    @Test("A change that is applied after it has failed is shown")
    func lateWrite() async throws {
        for change in [
            { try await $0.insert(Note(id: "a", text: "late")) },
            { try await $0.insert(Note(id: "new")) },
            { try await $0.remove(id: "b") },
            { try await $0.removeAll().insert(Note(id: "c", text: "late")).run() },
        ] as [@MainActor (Store<Note>) async throws -> Void] {
            let store = try await Store<Note>(storage: engine)
            try await store.removeAll().insert(notes("a", "b", "c")).run()
            engine.plan([.failedAndApplied])
            await #expect(throws: StorageError.self) { try await change(store) }
            #expect(store.items == notes("a", "b", "c"))
            try await store.insert(Note(id: "a", text: "newer"))
            try await engine.applyLate()
            #expect(try await eventuallyAgree(store))
            #expect(store.items != [Note(id: "a", text: "newer")] + notes("b", "c"))
            // Later writes succeed.
            try await store.insert(Note(id: "d"))
            #expect(try await eventuallyAgree(store))
        }
    }

    /// The write is undone, or shown if the engine has a log.
    @Test(
        "An outcome that can't be determined immediately is determined later without another call",
        arguments: [true, false])
    func unreachableEngine(isObservable: Bool) async throws {
        let storage: any StorageEngine = isObservable ? engine : AnyStorageEngine(base: engine)
        let store = try await Store<Note>(storage: storage)
        try await store.insert(notes("a", "b"))
        engine.plan([.appliedAndFailed], readFailures: 4)
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "b", text: "lost")) }
        #expect(try await storedNotes(in: engine.memory).last?.text == "lost")
        #expect(try await eventuallyAgree(store))
        #expect(store.items == (isObservable ? notes("a") + [Note(id: "b", text: "lost")] : notes("a", "b")))
        #expect(engine.remainingReadFailures == 0)
    }

    @Test("A write whose undo fails is undone later without another call", arguments: [true, false])
    func failedUndo(isObservable: Bool) async throws {
        let storage: any StorageEngine = isObservable ? engine : AnyStorageEngine(base: engine)
        let store = try await Store<Note>(storage: storage)
        try await store.insert(notes("a", "b"))
        engine.plan([.appliedAndFailed, .refused, .appliedAndFailed])
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "b", text: "lost")) }
        #expect(try await eventuallyAgree(store))
        #expect(store.items == (isObservable ? notes("a") + [Note(id: "b", text: "lost")] : notes("a", "b")))
    }

    @Test(
        "After a failed removal of undecodable records, the store eventually reports the remaining ones",
        arguments: [true, false])
    func removalOfUndecodable(isObservable: Bool) async throws {
        let storage: any StorageEngine = isObservable ? engine : AnyStorageEngine(base: engine)
        try await engine.memory.write([(CacheKey("x"), Data("?".utf8)), (CacheKey("y"), Data("?".utf8))])
        let store = try await Store<Note>(storage: storage)
        try await store.insert(Note(id: "a"))
        engine.plan([.appliedAndFailed], readFailures: 2)
        await #expect(throws: StorageError.self) { try await store.removeUndecodable([CacheKey("x")]) }
        #expect(try await eventually { store.undecodable.map(\.key) == [CacheKey("y")] })
        if isObservable {
            engine.plan([.failedAndApplied])
            await #expect(throws: StorageError.self) { try await store.removeUndecodable() }
            #expect(store.undecodable.map(\.key) == [CacheKey("y")])
            try await engine.applyLate()
            #expect(try await eventually { store.undecodable.isEmpty })
        }
    }

    @Test("Undoing a write that moved a record does not overwrite an item of another program")
    func overwrittenRecord() async throws {
        let (garbage, foreign) = (Data("?".utf8), Note(id: "a", text: "foreign"))
        try await engine.memory.write(garbage, key: CacheKey("a"))
        let store = try await Store<Note>(storage: AnyStorageEngine(base: engine))
        engine.plan([.appliedAndFailed], readFailures: 1_000)
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "a", text: "mine")) }
        try await engine.memory.write(JSONEncoder().encode(foreign), key: CacheKey("a"))
        engine.plan([])
        #expect(try await eventually { store.items == [foreign] })
        #expect(store.undecodable.count == 1)
        #expect(try await storedNotes(in: engine.memory) == [foreign])
        #expect(try await engine.memory.fetchAll().map(\.data).contains(garbage))
        let relaunched = try await Store<Note>(storage: AnyStorageEngine(base: engine))
        #expect(relaunched.items == [foreign])
        #expect(relaunched.undecodable.map(\.key) == store.undecodable.map(\.key))
    }

    @Test("Old records whose rewrite the engine applies late are shown")
    func lateRewriting() async throws {
        try await Store<NoteV1>(storage: engine.memory, cacheIdentifier: \.id).insert(NoteV1(id: "a", text: "old"))
        let migration = ItemMigration(startingWith: NoteV1.self).then(Note.self) { Note(id: $0.id, text: $0.text) }
        engine.plan([.failedAndApplied])
        let store = try await Store<Note>(storage: engine, migration: migration)
        try await store.insert(Note(id: "a", text: "newer"))
        try await engine.applyLate()
        #expect(try await eventually { store["a"]?.text == "old" })
    }

    @Test("After any outcomes and delays, store and engine agree eventually", arguments: [true, false])
    func model(isObservable: Bool) async throws {
        print("unknown outcomes: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        for round in 0..<25 {
            let engine = UncertainEngine()
            let store = try await Store<Note>(storage: isObservable ? engine : AnyStorageEngine(base: engine))
            // Without a log, a write that is applied late is shown like a foreign change: by reload().
            let outcomes = UncertainEngine.Outcome.allCases.filter { isObservable || $0 != .failedAndApplied }
            for step in 0..<30 {
                func id() -> String { "\(Int.random(in: 0..<8, using: &random))" }
                let planned = (0..<3).map { _ in outcomes.randomElement(using: &random) ?? .applied }
                let isUnreachable = Int.random(in: 0..<12, using: &random) == 0
                engine.plan(planned, readFailures: isUnreachable ? Int.random(in: 1...2, using: &random) : 0)
                let (first, second) = (id(), id())
                do {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0..<5:
                        try await store.insert([Note(id: first, text: "\(step)"), Note(id: second, text: "\(step)")])
                    case 5..<8: try await store.remove(id: first).insert(Note(id: second, text: "\(step)")).run()
                    case 8: try await store.removeAll()
                    default: try await store.update(id: first) { $0.count += 1 }
                    }
                } catch {
                    // The store must cope with any outcome.
                }
                if Int.random(in: 0..<3, using: &random) == 0 { try await engine.applyLate() }
                if Int.random(in: 0..<6, using: &random) == 0 {
                    let foreign = Note(id: id(), text: "foreign \(step)")
                    if isObservable {
                        try await engine.memory.write(JSONEncoder().encode(foreign), key: CacheKey(foreign.id))
                    }
                }
            }
            engine.plan([])
            while try await engine.applyLate() {}
            // Without a log, a restored item moves to the end only after a relaunch.
            let isSame = try await eventually {
                let stored = try await storedNotes(in: engine.memory)
                if isObservable { return store.items == stored }
                return store.items.sorted { $0.id < $1.id } == stored.sorted { $0.id < $1.id }
            }
            #expect(isSame, "round \(round)")
            if !isSame { return }
        }
    }

    @Test("A late write of a value is shown even if the origin is renewed while the log is read")
    func originRenewedWhileReading() async throws {
        let value = AsyncStoredValue(key: "n", default: 0, storage: engine)
        try await value.set(1)
        let followed = try #require(FollowedEngine.shared(engine))
        engine.beforeReadingLog.plan { [memory = engine.memory] in
            let late = followed.origin
            followed.renewOrigin()
            try await StorageOrigin.$current.withValue(late) {
                try await memory.write(Data(#"{"value":2}"#.utf8), key: CacheKey("n"))
            }
        }
        // Foreign changes of another key cause signals until the log is read.
        #expect(
            try await eventually {
                try await engine.memory.write(Data(), key: CacheKey("other"))
                return !engine.beforeReadingLog.isPlanned
            })
        #expect(try await eventually { value.wrappedValue == 2 })
    }

    @Test(
        "A value shows the bytes that its engine holds, even if the write has failed",
        arguments: UncertainEngine.Outcome.allCases)
    func value(outcome: UncertainEngine.Outcome) async throws {
        let value = AsyncStoredValue(key: "n", default: 0, storage: engine)
        try await value.set(1)
        engine.plan([outcome], readFailures: 2)
        do { try await value.set(2) } catch { #expect(outcome != .applied) }
        try await engine.applyLate()
        #expect(try await eventually { value.wrappedValue == (outcome == .refused ? 1 : 2) })
        engine.plan([])
        try await value.reload()
        #expect(value.wrappedValue == (outcome == .refused ? 1 : 2))
    }
}
