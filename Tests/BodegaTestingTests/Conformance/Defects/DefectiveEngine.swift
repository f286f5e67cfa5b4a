import Bodega
import Foundation

/// An engine whose items are in memory and can be read without a defect.
protocol DefectiveEngine: ForwardingStorageEngine {
    var storage: MemoryStorageEngine { get }
}

extension DefectiveEngine {
    var base: any StorageBackend { storage }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await body()
    }
}
