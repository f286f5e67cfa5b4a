import Bodega
import BodegaTesting
import Foundation

/// A defect of transactions over several collections.
enum TransactionDefect: String, CaseIterable, Sendable {
    case marksNothing, appliesEachAlone, ignoresBases, readsLaterItems

    /// The check that must find it.
    var check: StorageEngineConformance.Check {
        switch self {
        case .marksNothing: .groupsApplyTogether
        case .appliesEachAlone: .groupsFailTogether
        case .ignoresBases: .basesAreTheEndOfTheLog
        case .readsLaterItems: .momentsDoNotChange
        }
    }
}

/// An engine whose database has one defect, or none.
struct DefectiveTransactions: ForwardingStorageEngine {
    private let memory: MemoryStorageEngine
    private let defective: DefectiveDatabase

    init(_ memory: MemoryStorageEngine, defect: TransactionDefect?) {
        (self.memory, defective) = (memory, DefectiveDatabase(memory, defect: defect))
    }

    var base: any StorageBackend { memory }

    var database: (any StorageDatabase)? { defective }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> { try await body() }

    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        if let group = batch.group { return try await group.join(self, collection: "", batch) }
        return try await defective.apply(batch)
    }
}

/// The database of one collection in memory.
private final class DefectiveDatabase: StorageDatabase {
    private let memory: MemoryStorageEngine
    private let defect: TransactionDefect?

    init(_ memory: MemoryStorageEngine, defect: TransactionDefect?) { (self.memory, self.defect) = (memory, defect) }

    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        var batch = batch
        if defect == .ignoresBases { batch.basis = nil }
        return try await memory.apply(batch)
    }

    func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome] {
        switch defect {
        case .marksNothing:
            var all = StorageBatch([], origin: parts.first?.batch.origin)
            for part in parts {
                all.operations += part.batch.operations
                if let conditions = part.batch.conditions { all.conditions = (all.conditions ?? []) + conditions }
            }
            let outcome = try await memory.apply(all).value
            return parts.map { _ in outcome }
        case .appliesEachAlone:
            var outcomes: [BatchOutcome] = []
            for part in parts { outcomes.append(try await memory.apply(part.batch).value) }
            return outcomes
        default:
            let parts = parts.map { part in
                var part = part
                part.engine = memory
                if defect == .ignoresBases { part.batch.basis = nil }
                return part
            }
            return try await memory.database?.apply(parts) ?? []
        }
    }

    func atOneMoment(_ body: @Sendable () async throws -> Void) async throws {
        if defect == .readsLaterItems { return try await body() }
        try await memory.database?.atOneMoment(body)
    }
}
