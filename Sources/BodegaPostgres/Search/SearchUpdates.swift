#if Postgres
import Bodega
import Logging

/// Brings indexes for searches up to date in the background, one collection at a time.
final class SearchUpdates: Sendable {

    /// The number of noted items that a search may read without beginning an update.
    static let minimumCount = 256

    /// The number of operations of a batch after which an update begins without a search.
    static let largeBatch = 1_000

    private let pool: SessionPool
    private let retries: Retries
    /// The collections that are being updated.
    private let running = Locked<Set<Int32>>([])

    init(pool: SessionPool, retries: Retries) { (self.pool, self.retries) = (pool, retries) }

    /// Begins an update after a search or a large batch, unless one is running.
    func begin(_ collection: Int32) {
        guard running.withLock({ $0.insert(collection).inserted }) else { return }
        Task.detached(priority: .utility) { [self] in
            defer { _ = running.withLock { $0.remove(collection) } }
            do {
                while try await update(collection) { continue }
            } catch {
                // The next search begins it again, as another user, or another program.
                bodegaLogger.debug("An index for searches is not up to date.", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Adds the noted items of a collection, if the user may do that.
    func complete(_ collection: Int32) async throws {
        do {
            while try await update(collection) { continue }
        } catch let failure as PostgresFailure where failure.forbidsWriting {
            // Another user can.
        } catch {
            throw StorageError.postgres(error)
        }
    }

    /// Adds some noted items to each index of a collection.
    ///
    /// - Returns: Whether there may be more.
    func update(_ collection: Int32) async throws -> Bool {
        try await retries.untilDone(by: .after(10)) { _ in
            try await pool.withSession { session in
                let rows = try await session.run(Command(Statement(SearchTable.usable(ofCollection: collection))))
                var hasMore = false
                for index in try SearchTable.indexes(rows, ofCollection: collection) {
                    let writer = SearchTableWriter(SearchTable(index: index, collection: collection))
                    if try await writer.addNoted(session) >= Self.minimumCount { hasMore = true }
                }
                return hasMore
            }
        }
    }
}
#endif
