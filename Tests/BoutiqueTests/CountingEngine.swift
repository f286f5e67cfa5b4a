import Bodega
import BodegaTesting
import Foundation

/// An engine that counts reads of its log and commits, records origins, can hold commits, and signals nothing.
struct CountingEngine: ForwardingStorageEngine {
    let engine: SQLiteStorageEngine
    /// The origins that were excluded from signals.
    let followedOrigins = Locked<[StorageOrigin]>([])
    /// The origin of the last commit.
    let lastOrigin = Locked<StorageOrigin?>(nil)
    let failsNextCommit = Locked(false)
    /// Holds commits, whether or not their task is cancelled.
    let gate = StorageGate(isOpen: true)
    private let count = Locked(0)
    private let commitCount = Locked(0)

    init(_ engine: SQLiteStorageEngine) { self.engine = engine }

    var base: any StorageBackend { engine }
    var reads: Int { count.withLock { $0 } }
    var commits: Int { commitCount.withLock { $0 } }

    var log: (any StorageLog)? { Log(engine: self) }

    private struct Log: StorageLog {
        let engine: CountingEngine

        func fetchCursor() async throws -> StorageCursor { try await engine.engine.fetchCursor() }

        func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
            engine.count.withLock { $0 += 1 }
            return try await engine.engine.fetchChanges(request)
        }

        func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
            if let origin { engine.followedOrigins.withLock { $0.append(origin) } }
            return AsyncStream { _ in }
        }
    }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        guard case .apply(let batch) = call else { return try await body() }
        lastOrigin.withLock { $0 = batch.origin }
        commitCount.withLock { $0 += 1 }
        try await Task.detached { [gate] in try await gate.pass() }.value
        let fails = failsNextCommit.withLock { fails in
            defer { fails = false }
            return fails
        }
        if fails { throw StorageError(.inputOutput, "The connection is lost.") }
        return try await body()
    }
}
