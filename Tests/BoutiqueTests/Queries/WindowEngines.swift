import Bodega
import Boutique
import Foundation
import TestSupport

/// Runs an action after the first scan.
struct PausingEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let afterScan = PlannedAction()

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let value = try await body()
        guard call.operation == .scan else { return value }
        try await afterScan.take()?()
        return value
    }
}

/// Counts scans.
struct CountingScans: ForwardingStorageEngine {
    let base: any StorageBackend
    let scans = Locked(0)

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if call.operation == .scan { scans.withLock { $0 += 1 } }
        return try await body()
    }
}

/// Fails to read while it is told to.
struct FailingEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let isFailing = Locked(false)

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if !call.operation.isWrite, isFailing.withLock({ $0 }) { throw StorageError(.inputOutput, "The disk is gone.") }
        return try await body()
    }
}

extension [Errand] {
    /// Applies an event of a window to its items.
    mutating func apply(_ event: LiveQueryEvent<Errand>) {
        switch event {
        case .loaded(let items): self = items
        case .inserted(let item, let index): insert(item, at: index)
        case .updated(let item, let index): self[index] = item
        case .moved(let item, let source, let target):
            remove(at: source)
            insert(item, at: target)
        case .removed(_, let index): remove(at: index)
        }
    }
}
