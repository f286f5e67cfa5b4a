import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport

/// An item of the tests.
struct Note: Codable, Sendable, Equatable, Identifiable {
    var id: String
    var text = ""
    var count = 0

    /// Can't be encoded if it is infinite or NaN, because JSON has no such numbers.
    var weight = 0.0
}

/// Returns notes with the given identifiers.
func notes(_ ids: String...) -> [Note] {
    ids.map { Note(id: $0) }
}

/// Returns the items that an engine holds, as a store that is opened on it finds them.
func storedNotes(in engine: any StorageEngine) async throws -> [Note] {
    try await ObjectStorage<Note>(storage: engine).fetchAllObjects().objects
}

/// Returns the items of a store, and throws if its engine holds others.
@MainActor
func agreedNotes(_ store: Store<Note>, _ engine: any StorageEngine) async throws -> [Note] {
    let stored = try await storedNotes(in: engine)
    guard store.items == stored else {
        throw Disagreement(description: "memory: \(store.items.map(\.id)), engine: \(stored.map(\.id))")
    }
    return stored
}

struct Disagreement: Error, CustomStringConvertible {
    let description: String
}

/// A type-erased engine, for doubles that are generic over the engine that they wrap. It hides the engine's log.
struct AnyStorageEngine: ThrowingStorageEngine {
    let base: any StorageEngine

    func fetch(key: CacheKey) async throws -> Data? { try await base.fetch(key: key) }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await base.fetchAll() }
    func fetchKeys() async throws -> [CacheKey] { try await base.fetchKeys() }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { try await base.fetchDates(key: key) }
    func apply(_ operations: [StorageOperation]) async throws { try await base.apply(operations) }
}

/// What a double of an engine does once, at a point that it chooses.
final class PlannedAction: Sendable {
    typealias Action = @Sendable () async throws -> Void

    private let actions = Locked<[Action]>([])

    /// Whether the double has not done it yet.
    var isPlanned: Bool { actions.withLock { !$0.isEmpty } }

    func plan(_ action: @escaping Action) { actions.withLock { $0 = [action] } }

    func take() -> Action? { actions.withLock { $0.popLast() } }
}

/// An in-memory engine that several stores share. Its reads can be made to fail, including those of its log.
struct SharedEngine: ForwardingStorageEngine {
    let memory = MemoryStorageEngine()
    let faulty: FaultInjectingStorageEngine
    let logFailures = Locked<[StorageError]>([])
    /// Changes that another origin makes just before and just after the next write through this engine.
    let beforeWriting = PlannedAction()
    let afterWriting = PlannedAction()
    /// Changes that another origin makes just before items are read, one for each read.
    let beforeReading = Locked<[@Sendable () async throws -> Void]>([])

    init() { faulty = FaultInjectingStorageEngine(memory) }

    var base: any StorageBackend { faulty }

    /// The log does not read items, so that they can change between the changes and the items.
    var log: (any StorageLog)? { Log(engine: self) }

    private struct Log: StorageLog {
        let engine: SharedEngine

        func fetchCursor() async throws -> StorageCursor {
            try engine.throwNextLogFailure()
            return try await engine.memory.fetchCursor()
        }

        func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
            if request.needsItems { return try await fetchChangesWithItems(request, of: engine) }
            try engine.throwNextLogFailure()
            return try await engine.memory.fetchChanges(request)
        }

        func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
            engine.memory.changeSignals(excluding: origin)
        }
    }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        switch call {
        case .fetch:
            let change = beforeReading.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            try await change?()
        case .scan(let request) where request.needsCursor:
            try throwNextLogFailure()
        default: break
        }
        return try await body()
    }

    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        try await beforeWriting.take()?()
        let result: Result<StorageAnswer<BatchOutcome>, any Error>
        do {
            result = .success(try await faulty.apply(batch))
        } catch {
            result = .failure(error)
        }
        try await afterWriting.take()?()
        var answer = try result.get()
        // Its place in the log is not reported, so that stores read the log.
        answer.value.commit = nil
        return answer
    }

    private func throwNextLogFailure() throws {
        if let error = logFailures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw error }
    }
}
