import Bodega
import BodegaTesting
import Foundation

/// A defect of the answers to requests, or of conditional batches.
enum RequestDefect: String, CaseIterable, Sendable {
    case returnsNoDates, reportsHealthyItems, countsWithoutLimits, forgetsDates, ignoresConditions,
        appliesBeforeItCompares
    case appliesNothing, comparesTooEarly

    /// The check that must find it.
    var check: StorageEngineConformance.Check {
        switch self {
        case .returnsNoDates: .requestsReturnTheirFields
        case .reportsHealthyItems: .healthyItemsAreNotLeftOut
        case .countsWithoutLimits: .countsEndAtTheirLimits
        case .forgetsDates: .batchesWriteTheirDates
        case .ignoresConditions, .appliesBeforeItCompares: .unmetConditionsChangeNothing
        case .appliesNothing: .metConditionsApply
        case .comparesTooEarly: .concurrentIncrementsLoseNothing
        }
    }
}

/// An engine with one defect.
struct DefectiveRequests: DefectiveEngine {
    let storage: MemoryStorageEngine
    let defect: RequestDefect

    func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        var answer = try await storage.fetch(request)
        switch defect {
        case .returnsNoDates: for place in answer.value.indices { answer.value[place].dates = nil }
        case .reportsHealthyItems where request.options.omitsUnreadable:
            answer.report.unreadable = [StorageError(.decodingFailed, "Not true.", key: request.keys.first)]
        default: break
        }
        return answer
    }

    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        var request = request
        if defect == .countsWithoutLimits { request.countLimit = .max }
        return try await storage.scan(request, begin)
    }

    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        var batch = batch
        switch defect {
        case .forgetsDates: batch.dates = [:]
        case .ignoresConditions where batch.conditions != nil: batch.conditions = []
        case .appliesBeforeItCompares where batch.conditions != nil:
            _ = try await storage.apply(StorageBatch(batch.operations))
        case .appliesNothing where batch.conditions != nil: batch.operations = []
        case .comparesTooEarly where batch.conditions != nil:
            for condition in batch.conditions ?? [] {
                guard try await storage.fetch(key: condition.key) == condition.data else {
                    return StorageAnswer(BatchOutcome(wasApplied: false))
                }
            }
            await Task.yield()
            batch.conditions = nil
        default: break
        }
        return try await storage.apply(batch)
    }
}
