import Bodega
import BodegaTesting
import Foundation
import TestSupport

/// An engine whose errors don't reveal whether a write was applied, and that can be unreachable.
final class UncertainEngine: ThrowingStorageEngine, ObservableStorageEngine {

    /// The outcome of a write.
    enum Outcome: CaseIterable {
        case applied
        case refused
        /// It is applied, but the response is lost.
        case appliedAndFailed
        /// It fails, and is applied by ``applyLate()``.
        case failedAndApplied
    }

    let memory = MemoryStorageEngine()

    /// Runs just before the next read of the log.
    let beforeReadingLog = PlannedAction()

    private let outcomes = Locked<[Outcome]>([])
    private let plannedReadFailures = Locked(0)
    private let readFailures = Locked(0)
    private let late = Locked<[(operations: [StorageOperation], origin: StorageOrigin?)]>([])
    private let lost = StorageError(.inputOutput, "The connection is lost.")

    /// Sets the outcomes of the next writes, and the number of reads that fail after the first of these writes that
    /// fails.
    func plan(_ next: [Outcome], readFailures count: Int = 0) {
        outcomes.withLock { $0 = next }
        readFailures.withLock { $0 = 0 }
        plannedReadFailures.withLock { $0 = count }
    }

    /// The number of reads that are going to fail.
    var remainingReadFailures: Int { readFailures.withLock { $0 } }

    /// Applies the oldest of the delayed writes.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func applyLate() async throws -> Bool {
        guard let next = late.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        try await StorageOrigin.$current.withValue(next.origin) { try await memory.apply(next.operations) }
        return true
    }

    func apply(_ operations: [StorageOperation]) async throws {
        switch outcomes.withLock({ $0.isEmpty ? .applied : $0.removeFirst() }) {
        case .applied: return try await memory.apply(operations)
        case .refused: break
        case .appliedAndFailed: try await memory.apply(operations)
        case .failedAndApplied: late.withLock { $0.append((operations, StorageOrigin.current)) }
        }
        let count = plannedReadFailures.withLock { failures in
            defer { failures = 0 }
            return failures
        }
        readFailures.withLock { $0 += count }
        throw lost
    }

    private func read<Value>(_ value: () async throws -> Value) async throws -> Value {
        let fails = readFailures.withLock { failures in
            defer { failures = max(0, failures - 1) }
            return failures > 0
        }
        if fails { throw lost }
        return try await value()
    }

    func fetch(key: CacheKey) async throws -> Data? { try await read { try await memory.fetch(key: key) } }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await read { try await memory.fetchAll() } }
    func fetchKeys() async throws -> [CacheKey] { try await read { try await memory.fetchKeys() } }
    func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await read { try await memory.fetchDates(key: key) }
    }
    func fetchCursor() async throws -> StorageCursor { try await read { try await memory.fetchCursor() } }
    func fetchSnapshot() async throws -> StorageSnapshot { try await read { try await memory.fetchSnapshot() } }

    func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws -> StorageDelta? {
        try await beforeReadingLog.take()?()
        return try await read { try await memory.fetchChanges(since: cursor, excluding: origin) }
    }

    func changeSignals() -> AsyncStream<Void> { memory.changeSignals() }
}

/// Waits until a condition holds, for 20 seconds at most.
@MainActor
func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end {
        if try await condition() { return true }
        await Task.yield()
    }
    return try await condition()
}
