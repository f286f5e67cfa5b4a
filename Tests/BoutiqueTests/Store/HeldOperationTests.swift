import Bodega
import BodegaTesting
import Boutique
import TestSupport
import Testing

/// An operation that is kept in a variable instead of being run in one expression is a reference, as in Boutique.
@MainActor
@Suite struct HeldOperationTests {
    let engine = MemoryStorageEngine()

    @Test func `All references to an operation see the steps added through any of them`() async throws {
        let store = try await Store<Note>(storage: engine)
        let operation: Store<Note>.Operation = try await store.insert(notes("a"))
        let same = operation
        _ = try await same.insert(notes("b", "c"))
        _ = try await operation.remove(id: "b").add(notes("d"))
        try await operation.run()
        #expect(try await agreedNotes(store, engine) == notes("a", "c", "d"))
    }

    @Test func `A second run changes nothing, even if steps were added after the first`() async throws {
        let store = try await Store<Note>(storage: engine)
        let operation: Store<Note>.Operation = try await store.insert(notes("a"))
        try await operation.run()
        try await store.removeAll()
        try await operation.run()
        try await operation.insert(notes("b")).run()
        #expect(try await agreedNotes(store, engine).isEmpty)
    }

    @Test func `A second run waits for the first`() async throws {
        let gate = StorageGate()
        let held = FaultInjectingStorageEngine(WithoutLog(engine), faults: [.hold(.writes, at: gate)])
        let store = try await Store<Note>(storage: held)
        let operation: Store<Note>.Operation = try await store.insert(notes("a"))
        async let first: Void = operation.run()
        await gate.waitForArrivals(1)
        let second = Task {
            try await operation.run()
            return store.items
        }
        await Task.yield()
        gate.release()
        try await first
        #expect(try await second.value == notes("a"))
    }

    @Test func `An operation that has failed can be run again`() async throws {
        let failing = FaultInjectingStorageEngine(WithoutLog(engine), faults: [.fail(.writes, .number(1))])
        let store = try await Store<Note>(storage: failing)
        let operation: Store<Note>.Operation = try await store.insert(notes("a"))
        await #expect(throws: StorageError.self) { try await operation.run() }
        #expect(store.items.isEmpty)
        try await operation.run()
        #expect(try await agreedNotes(store, engine) == notes("a"))
    }

    @Test func `An operation can be run outside the main actor`() async throws {
        let store = try await Store<Note>(storage: engine)
        try await Task.detached {
            let operation: Store<Note>.Operation = try await store.removeAll()
            try await operation.insert(notes("a")).run()
        }.value
        #expect(store.items == notes("a"))
    }
}
