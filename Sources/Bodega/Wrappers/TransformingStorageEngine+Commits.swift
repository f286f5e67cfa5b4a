package import Foundation

// The members of a CommitReportingStorageEngine, for engines whose ``TransformingStorageEngine/ownsAllItems`` is
// `true`. The others read keys before they remove all items, so their operations can end early when their task is
// cancelled.
extension TransformingStorageEngine where Base: CommitReportingStorageEngine {

    package func commit(_ operations: [StorageOperation]) async throws -> StorageCommit? {
        let stored = try await stored(operations)
        return try await callBase { try await base.commit(stored) }
    }

    /// Decodes each part on the thread that reads. Throws the error of the first item that can't be decoded, after all
    /// parts were read.
    package func readSnapshot(
        _ receive: @escaping @Sendable (Int, [(key: CacheKey, data: Data)]) -> Void
    ) async throws -> StorageCursor {
        let failure = Locked<(any Error)?>(nil)
        let cursor = try await base.readSnapshot { number, part in
            if number == 0 { failure.withLock { $0 = nil } }
            if failure.withLock({ $0 != nil }) { return }
            do {
                receive(number, try part.compactMap(item))
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return cursor
    }

    package func changeSignals(excluding origin: StorageOrigin) -> AsyncStream<Void> {
        base.changeSignals(excluding: origin)
    }
}
