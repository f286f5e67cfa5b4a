public import Bodega
public import Foundation

/// An engine that forwards every call to another engine and records it.
///
/// ```swift
/// let engine = RecordingStorageEngine(MemoryStorageEngine())
/// try await program(engine)
/// #expect(engine.calls.map(\.operation) == [.fetchAll, .apply])
/// ```
///
/// Copies share one record.
public struct RecordingStorageEngine<Base: StorageEngine>: ThrowingStorageEngine {

    /// The wrapped engine.
    public let base: Base

    private let record = Locked<[StorageEngineCall]>([])

    /// Creates an engine with an empty record.
    ///
    /// - Parameter base: The wrapped engine.
    public init(_ base: Base) {
        self.base = base
    }

    /// The calls so far, in the order in which they returned.
    public var calls: [StorageEngineCall] { record.withLock { $0 } }

    /// Empties the record.
    public func clearCalls() {
        record.withLock { $0 = [] }
    }

    private func recorded<Value>(
        _ operation: StorageEngineCall.Operation,
        _ keys: [CacheKey] = [],
        outcome: (Value) -> StorageEngineCall.Outcome,
        _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await work()
            record.withLock { $0.append(.init(operation, keys: keys, outcome: outcome(value))) }
            return value
        } catch {
            record.withLock { $0.append(.init(operation, keys: keys, outcome: .failed(error))) }
            throw error
        }
    }
}

// Writing.
extension RecordingStorageEngine {

    public func write(_ data: Data, key: CacheKey) async throws {
        try await recorded(.write, [key], outcome: { .done }) { try await base.write(data, key: key) }
    }

    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        try await recorded(.writeMany, dataAndKeys.map(\.key), outcome: { .done }) {
            try await base.write(dataAndKeys)
        }
    }

    public func remove(key: CacheKey) async throws {
        try await recorded(.remove, [key], outcome: { .done }) { try await base.remove(key: key) }
    }

    public func remove(keys: [CacheKey]) async throws {
        try await recorded(.removeKeys, keys, outcome: { .done }) { try await base.remove(keys: keys) }
    }

    public func removeAllData() async throws {
        try await recorded(.removeAll, outcome: { .done }) { try await base.removeAllData() }
    }

    public func apply(_ operations: [StorageOperation]) async throws {
        try await recorded(.apply, operations.compactMap(\.key), outcome: { .done }) {
            try await base.apply(operations)
        }
    }
}

// Reading.
extension RecordingStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        try await recorded(.fetch, [key], outcome: { .data($0) }) { try await base.fetch(key: key) }
    }

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        try await recorded(.fetchMany, keys, outcome: { .items($0) }) { try await base.fetch(keys: keys) }
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await recorded(.fetchAll, outcome: { .items($0) }) { try await base.fetchAll() }
    }

    public func fetchAllData() async throws -> [Data] {
        try await recorded(.fetchAllData, outcome: { .allData($0) }) { try await base.fetchAllData() }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await recorded(.fetchKeys, outcome: { .keys($0) }) { try await base.fetchKeys() }
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await recorded(.fetchKeysAmong, candidates, outcome: { .keys($0) }) {
            try await base.fetchKeys(among: candidates)
        }
    }

    public func fetchCount() async throws -> Int {
        try await recorded(.fetchCount, outcome: { .count($0) }) { try await base.fetchCount() }
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await recorded(.fetchDates, [key], outcome: { .dates($0) }) { try await base.fetchDates(key: key) }
    }
}
