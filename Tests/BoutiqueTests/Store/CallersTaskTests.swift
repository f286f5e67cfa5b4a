import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// The caller's task carries out an operation if no other one is active, the engine ignores cancellation, and the task
/// has no low priority. The outcome must not depend on that.
@MainActor
@Suite struct CallersTaskTests {
    private let folder = TemporaryFolder()
    private let engine: CountingEngine

    init() throws {
        engine = CountingEngine(try SQLiteStorageEngine(opening: folder.directory))
    }

    @Test(arguments: [TaskPriority.background, .high])
    func `A cancelled task's operation is carried out`(_ priority: TaskPriority) async throws {
        let store = try await Store<Note>(storage: engine)
        engine.gate.hold()
        let held = Task(priority: priority) { try await store.insert(Note(id: "a")) }
        await engine.gate.waitForArrivals(1)
        held.cancel()
        engine.gate.release()
        try await held.value
        let cancelled = Task(priority: priority) {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.insert(Note(id: "b"))
        }
        try await cancelled.value
        #expect(try await agreedNotes(store, engine) == notes("a", "b"))
    }

    @Test(arguments: [TaskPriority.background, .high])
    func `Operations called in the meantime follow in their order, in one batch`(
        _ priority: TaskPriority
    ) async throws {
        let store = try await Store<Note>(storage: engine)
        engine.gate.hold()
        let first = Task(priority: priority) { try await store.insert(Note(id: "first")) }
        await engine.gate.waitForArrivals(1)
        let others = (0..<20).map { number in Task { try await store.insert(Note(id: "\(number)")) } }
        let transaction = Task {
            try await store.transaction { transaction in transaction.insert(Note(id: "\(transaction.items.count)")) }
        }
        // Their first step is to queue the operation.
        await Task.yield()
        engine.gate.release()
        try await first.value
        for other in others { try await other.value }
        try await transaction.value
        #expect(engine.commits == 3)
        #expect(try await agreedNotes(store, engine).map(\.id) == ["first"] + (0..<20).map { "\($0)" } + ["21"])
    }

    @Test(arguments: [TaskPriority.background, .high])
    func `A failed operation throws and changes nothing, and the next one succeeds`(
        _ priority: TaskPriority
    ) async throws {
        let store = try await Store<Note>(storage: engine)
        try await store.insert(Note(id: "a"))
        engine.failsNextCommit.withLock { $0 = true }
        let failing = Task(priority: priority) { try await store.insert(Note(id: "b")) }
        await #expect(throws: StorageError.self) { try await failing.value }
        #expect(try await agreedNotes(store, engine) == notes("a"))
        let next = Task(priority: priority) {
            try await store.transaction { transaction in
                transaction.insert(Note(id: "c"))
                if transaction.items.count > 1 { throw CancellationError() }
            }
        }
        await #expect(throws: CancellationError.self) { try await next.value }
        try await store.insert(Note(id: "d"))
        #expect(try await agreedNotes(store, engine) == notes("a", "d"))
    }
}
