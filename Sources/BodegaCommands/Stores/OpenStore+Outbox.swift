import Bodega
import BodegaSync

extension OpenStore {
    /// The outbox of an SQLite file, `nil` if it has none.
    func outbox() async throws -> LocalOutbox? {
        guard let sqlite, LocalOutbox.exists(among: try await sqlite.collectionNames()) else { return nil }
        return try await LocalOutbox { try sqlite.collection(named: $0) }
    }

    /// The store with an engine that notes changes in the outbox, if its collection is synchronized.
    func notingChanges() async throws -> OpenStore {
        guard let sqlite, let name = address.collection else { return self }
        let synchronized = try await outbox()?.fetchCollections() ?? []
        var store = self
        guard synchronized.contains(where: { ExactText($0) == ExactText(name) }) else {
            // It may be synchronized while the command runs.
            if let plain = store.base as? SQLiteStorageEngine {
                store.base = LocalOutbox.checkingWrites(of: name, by: plain)
                store.engine = store.base
            }
            return store
        }
        let sync = try await StorageSync.unconnected { try sqlite.collection(named: $0) }
        // What a removal takes along in the others is sent with it, and given up with it.
        for other in synchronized.sorted() { _ = try await sync.collection(named: other) }
        store.base = try await sync.collection(named: name)
        store.engine = store.base
        return store
    }

    /// Another collection of the same file or database, which refuses writes as soon as it is synchronized.
    func unsynchronizedCollection(named name: String) async throws -> any StorageBackend {
        let collection = try await collection(named: name)
        guard let plain = collection as? SQLiteStorageEngine else { return collection }
        return LocalOutbox.checkingWrites(of: name, by: plain)
    }
}
