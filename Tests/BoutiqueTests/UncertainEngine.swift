import Bodega
import BodegaTesting
import Foundation
import TestSupport

/// An engine whose errors don't reveal whether a write was applied, and that can be unreachable.
final class UncertainEngine: ForwardingStorageEngine {

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
    var base: any StorageBackend { memory }

    /// Runs just before the next read of the log.
    let beforeReadingLog = PlannedAction()

    private let outcomes = Locked<[Outcome]>([])
    private let plannedReadFailures = Locked(0)
    private let readFailures = Locked(0)
    private let late = Locked<[StorageBatch]>([])
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
        _ = try await memory.apply(next)
        return true
    }

    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        switch outcomes.withLock({ $0.isEmpty ? .applied : $0.removeFirst() }) {
        case .applied:
            var answer = try await memory.apply(batch)
            answer.value.commit = nil
            return answer
        case .refused: break
        case .appliedAndFailed: _ = try await memory.apply(batch)
        case .failedAndApplied: late.withLock { $0.append(batch) }
        }
        let count = plannedReadFailures.withLock { failures in
            defer { failures = 0 }
            return failures
        }
        readFailures.withLock { $0 += count }
        throw lost
    }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if call.operation == .fetchChanges { try await beforeReadingLog.take()?() }
        let fails = readFailures.withLock { failures in
            defer { failures = max(0, failures - 1) }
            return failures > 0
        }
        if fails { throw lost }
        return try await body()
    }
}

/// Waits until a condition holds, for two minutes at most, because the machine may be busy.
@MainActor
func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
        if try await condition() { return true }
        await Task.yield()
    }
    return try await condition()
}
