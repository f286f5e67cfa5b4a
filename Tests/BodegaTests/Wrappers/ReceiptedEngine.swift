import Bodega
import Foundation

/// An engine that answers a batch whose identifier it has seen as applied, without applying it.
struct ReceiptedEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    private let seen = Locked<Set<UUID>>([])
    private let record = Locked<[StorageBatch]>([])

    init(_ base: any StorageEngine) { self.base = base.backend }

    /// The batches that have arrived.
    var batches: [StorageBatch] { record.withLock { $0 } }

    var traits: StorageTraits { base.traits.union(.receipts) }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: @concurrent () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        guard case .apply(let batch) = call else { return try await body() }
        record.withLock { $0.append(batch) }
        guard let identifier = batch.identifier else { return try await body() }
        if seen.withLock({ $0.contains(identifier) }),
            let answer = StorageAnswer(BatchOutcome()) as? StorageAnswer<Value>
        {
            return answer
        }
        let answer = try await body()
        if (answer.value as? BatchOutcome)?.wasApplied ?? false { seen.withLock { _ = $0.insert(identifier) } }
        return answer
    }
}
