import Bodega
import BodegaSync
import TestSupport

/// A remote database some of whose collections can't be opened or read.
final class Shelf: Sendable {
    let server = MemoryStorageEngine()
    private let closed = Locked<Set<String>>([])

    func close(_ names: Set<String>) { closed.withLock { $0 = names } }

    func engine(_ name: String) throws -> any StorageEngine {
        if closed.withLock({ $0.contains(name) }) { throw StorageError(.cannotOpen, "No such collection.") }
        return server.collection(named: name)
    }

    /// A synchronization with the database.
    func replica(_ local: MemoryStorageEngine) async throws -> StorageSync {
        try await StorageSync(local: { local.collection(named: $0) }, remote: EngineSyncRemote { try self.engine($0) })
    }
}

extension StorageSync {
    /// Waits until a condition holds, which may change with the state.
    func wait(until condition: (SyncStatus) async throws -> Bool) async throws {
        for await status in statusUpdates where try await condition(status) { return }
    }
}
