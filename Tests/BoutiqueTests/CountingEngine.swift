import Bodega
import BodegaTesting
import Foundation

/// An engine that counts reads of its log and commits, records origins, can hold commits, and signals nothing.
struct CountingEngine: ThrowingStorageEngine, CommitReportingStorageEngine {
    let base: SQLiteStorageEngine
    /// The origins that were excluded from signals.
    let followedOrigins = Locked<[StorageOrigin]>([])
    /// The origin of the last commit.
    let lastOrigin = Locked<StorageOrigin?>(nil)
    let failsNextCommit = Locked(false)
    /// Holds commits, whether or not their task is cancelled.
    let gate = StorageGate(isOpen: true)
    private let count = Locked(0)
    private let commitCount = Locked(0)

    init(_ base: SQLiteStorageEngine) { self.base = base }

    var reads: Int { count.withLock { $0 } }
    var commits: Int { commitCount.withLock { $0 } }

    func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws -> StorageDelta? {
        count.withLock { $0 += 1 }
        return try await base.fetchChanges(since: cursor, excluding: origin)
    }

    func changeSignals() -> AsyncStream<Void> { AsyncStream { _ in } }

    func changeSignals(excluding origin: StorageOrigin) -> AsyncStream<Void> {
        followedOrigins.withLock { $0.append(origin) }
        return AsyncStream { _ in }
    }

    func commit(_ operations: [StorageOperation]) async throws -> StorageCommit? {
        lastOrigin.withLock { $0 = StorageOrigin.current }
        commitCount.withLock { $0 += 1 }
        try await Task.detached { [gate] in try await gate.pass() }.value
        let fails = failsNextCommit.withLock { fails in
            defer { fails = false }
            return fails
        }
        if fails { throw StorageError(.inputOutput, "The connection is lost.") }
        return try await base.commit(operations)
    }

    func apply(_ operations: [StorageOperation]) async throws { try await base.apply(operations) }
    func fetchCursor() async throws -> StorageCursor { try await base.fetchCursor() }
    func fetchSnapshot() async throws -> StorageSnapshot { try await base.fetchSnapshot() }
    func readSnapshot(
        _ receive: @escaping @Sendable (Int, [(key: CacheKey, data: Data)]) -> Void
    ) async throws -> StorageCursor {
        try await base.readSnapshot(receive)
    }
    func fetch(key: CacheKey) async throws -> Data? { try await base.fetch(key: key) }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await base.fetchAll() }
    func fetchKeys() async throws -> [CacheKey] { try await base.fetchKeys() }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { try await base.fetchDates(key: key) }
}
