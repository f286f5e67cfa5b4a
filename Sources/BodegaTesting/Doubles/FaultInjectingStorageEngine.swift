public import Bodega
public import Foundation

/// An engine that forwards calls to another engine and fails, tears or delays some of them according to a plan.
///
/// ```swift
/// let engine = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [
///     .fail(.writes, .number(3), with: StorageError(.storageFull, "The disk is full.")),
///     .tear(.batches, afterFirst: 1),
/// ])
/// ```
///
/// The `fetch…` methods throw the injected errors; the `read…` methods swallow them and return `nil` or nothing, as
/// they do with a real failure. Copies share one plan. If several faults match one call, it waits at all their gates,
/// and then the first failure in the order of the plan takes effect.
public struct FaultInjectingStorageEngine<Base: StorageEngine>: ThrowingStorageEngine {

    /// The wrapped engine. Direct calls to it bypass the faults.
    public let base: Base

    private let plan = Locked(StorageFaultPlan())

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - base: The wrapped engine.
    ///   - faults: The faults of the plan.
    public init(_ base: Base, faults: [StorageFault] = []) {
        self.base = base
        for fault in faults { inject(fault) }
    }

    /// Adds a fault to the plan. The fault counts calls from now on.
    ///
    /// - Parameter fault: The fault.
    public func inject(_ fault: StorageFault) {
        plan.withLock { $0.add(fault) }
    }

    /// Removes all faults from the plan. Calls that wait at a gate keep waiting.
    public func clearFaults() {
        plan.withLock { $0.removeAll() }
    }

    /// Performs a call according to the plan.
    ///
    /// - Parameters:
    ///   - operation: The call.
    ///   - part: Performs the given number of operations of the call.
    ///   - work: Performs the call.
    private func faulted<Value>(
        _ operation: StorageEngineCall.Operation,
        part: (Int) async throws -> Void = { _ in },
        _ work: () async throws -> Value
    ) async throws -> Value {
        let fate = plan.withLock { $0.fate(of: operation) }
        for gate in fate.gates { try await gate.pass() }
        switch fate.failure {
        case nil, .hold:
            return try await work()
        case .fail(let error):
            throw error
        case .tear(let applied, let error):
            if applied > 0 { try await part(applied) }
            throw error
        case .failAfterwards(let error):
            _ = try await work()
            throw error
        }
    }
}

// Writing.
extension FaultInjectingStorageEngine {

    public func write(_ data: Data, key: CacheKey) async throws {
        try await faulted(.write, part: { _ in try await base.write(data, key: key) }) {
            try await base.write(data, key: key)
        }
    }

    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        try await faulted(.writeMany, part: { try await base.write(Array(dataAndKeys.prefix($0))) }) {
            try await base.write(dataAndKeys)
        }
    }

    public func remove(key: CacheKey) async throws {
        try await faulted(.remove, part: { _ in try await base.remove(key: key) }) {
            try await base.remove(key: key)
        }
    }

    public func remove(keys: [CacheKey]) async throws {
        try await faulted(.removeKeys, part: { try await base.remove(keys: Array(keys.prefix($0))) }) {
            try await base.remove(keys: keys)
        }
    }

    public func removeAllData() async throws {
        try await faulted(.removeAll) { try await base.removeAllData() }
    }

    public func apply(_ operations: [StorageOperation]) async throws {
        try await faulted(.apply, part: { try await base.apply(Array(operations.prefix($0))) }) {
            try await base.apply(operations)
        }
    }
}

// Reading.
extension FaultInjectingStorageEngine {

    public func fetch(key: CacheKey) async throws -> Data? {
        try await faulted(.fetch) { try await base.fetch(key: key) }
    }

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        try await faulted(.fetchMany) { try await base.fetch(keys: keys) }
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await faulted(.fetchAll) { try await base.fetchAll() }
    }

    public func fetchAllData() async throws -> [Data] {
        try await faulted(.fetchAllData) { try await base.fetchAllData() }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await faulted(.fetchKeys) { try await base.fetchKeys() }
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await faulted(.fetchKeysAmong) { try await base.fetchKeys(among: candidates) }
    }

    public func fetchCount() async throws -> Int {
        try await faulted(.fetchCount) { try await base.fetchCount() }
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await faulted(.fetchDates) { try await base.fetchDates(key: key) }
    }
}
