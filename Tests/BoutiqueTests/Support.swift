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

    /// Cannot be encoded if it is not a number, because JSON has no such thing.
    var weight = 0.0
}

/// Notes with these identifiers.
func notes(_ ids: String...) -> [Note] {
    ids.map { Note(id: $0) }
}

/// The items that an engine holds, as a store that is opened on it finds them.
func storedNotes(in engine: any StorageEngine) async throws -> [Note] {
    try await ObjectStorage<Note>(storage: engine).fetchAllObjects().objects
}

/// Expects memory and engine to agree, and tells what they hold.
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

/// Any engine, for doubles that are generic over the engine that they stand before.
struct AnyStorageEngine: ThrowingStorageEngine {
    let base: any StorageEngine

    func fetch(key: CacheKey) async throws -> Data? { try await base.fetch(key: key) }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await base.fetchAll() }
    func fetchKeys() async throws -> [CacheKey] { try await base.fetchKeys() }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { try await base.fetchDates(key: key) }
    func apply(_ operations: [StorageOperation]) async throws { try await base.apply(operations) }
}

/// Memory that several use, and whose reads can be made to fail, those of its history too.
struct SharedEngine: ThrowingStorageEngine, ObservableStorageEngine {
    let memory = MemoryStorageEngine()
    let faulty: FaultInjectingStorageEngine<MemoryStorageEngine>
    let historyFailures = Locked<[StorageError]>([])
    /// What others do just before and just after the next change is made through it.
    let beforeWriting = Locked<(@Sendable () async throws -> Void)?>(nil)
    let afterWriting = Locked<(@Sendable () async throws -> Void)?>(nil)
    /// What others do just before some items are read, each time something.
    let beforeReading = Locked<[@Sendable () async throws -> Void]>([])

    init() { faulty = FaultInjectingStorageEngine(memory) }

    func fetch(key: CacheKey) async throws -> Data? { try await faulty.fetch(key: key) }

    func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        let change = beforeReading.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let change { try await StorageOrigin.$current.withValue(nil, operation: change) }
        return try await faulty.fetch(keys: keys)
    }

    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await faulty.fetchAll() }
    func fetchKeys() async throws -> [CacheKey] { try await faulty.fetchKeys() }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { try await faulty.fetchDates(key: key) }

    func apply(_ operations: [StorageOperation]) async throws {
        try await byOthers(beforeWriting)
        let result: Result<Void, any Error>
        do {
            result = .success(try await faulty.apply(operations))
        } catch {
            result = .failure(error)
        }
        try await byOthers(afterWriting)
        try result.get()
    }

    private func byOthers(_ change: Locked<(@Sendable () async throws -> Void)?>) async throws {
        guard let change = change.withLock({ $0.take() }) else { return }
        try await StorageOrigin.$current.withValue(nil, operation: change)
    }

    func fetchCursor() async throws -> StorageCursor {
        try failIfTold()
        return try await memory.fetchCursor()
    }

    func fetchSnapshot() async throws -> StorageSnapshot {
        try failIfTold()
        return try await memory.fetchSnapshot()
    }

    func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws -> StorageDelta? {
        try failIfTold()
        return try await memory.fetchChanges(since: cursor, excluding: origin)
    }

    func changeSignals() -> AsyncStream<Void> { memory.changeSignals() }

    private func failIfTold() throws {
        if let error = historyFailures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw error }
    }
}
