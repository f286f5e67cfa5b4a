package import Bodega
package import Foundation

/// The outbox of a local database without a remote one, for programs that look after it.
package struct LocalOutbox: Sendable {
    private let work: SyncWork
    private let open: @Sendable (String) async throws -> any StorageBackend

    /// The start of the names of the collections that hold what synchronization and servers store for themselves.
    package static let reservedPrefix = "emporium-"

    /// Opens an outbox.
    ///
    /// - Parameter local: Opens a collection of the local database. The three of the outbox are opened immediately.
    package init(local: @escaping @Sendable (_ collection: String) async throws -> any StorageEngine) async throws {
        open = { try await local($0).backend }
        let outbox = try await OutboxStorage(open)
        work = SyncWork(
            outbox: outbox, remote: UnreachableRemote(), collections: SyncedCollections(open),
            state: SyncState(outbox, isPaused: true))
    }

    /// Whether a database with some collections has an outbox.
    package static func exists(among collections: [String]) -> Bool {
        Set(["outbox", "sync", "conflicts"].map { reservedPrefix + $0 }).isSubset(of: collections)
    }

    /// An engine on a collection that is not synchronized, for a program that does not note its changes. A write throws
    /// as soon as the collection is synchronized: its change would never be sent, or the next pull would undo it.
    package static func checkingWrites(
        of collection: String, by engine: SQLiteStorageEngine
    ) -> SQLiteStorageEngine {
        engine.checkingWrites(byItem: OutboxStorage.placeKey, in: OutboxStorage.metaName) { data in
            guard try data.map(OutboxStorage.place)?.notesChanges(of: collection) == true else { return }
            throw StorageError(
                .readOnly,
                """
                The collection "\(collection)" is synchronized with another database since this program has opened it. \
                Nothing of this change was written. Run the program again: it notes its changes then.
                """)
        }
    }

    /// The name that the remote database was given, see ``setRemoteName(_:)``.
    package func fetchRemoteName() async throws -> String? { try await work.outbox.fetchPlace().remote }

    /// Notes with which remote database the local one is synchronized.
    package func setRemoteName(_ name: String) async throws {
        try await work.transact([], needsPlace: true, moving: { $0.remote = name }) { _ in }
    }

    /// The names of the collections whose changes are noted.
    package func fetchCollections() async throws -> Set<String> { try await work.outbox.fetchPlace().collections }

    /// The changes that the remote database does not have yet, the oldest first.
    package func fetchPending() async throws -> [PendingChange] { try await work.outbox.pending(limit: .max) }

    /// Sends a parked change again, with the others of its transaction, as soon as a program synchronizes.
    package func retry(_ key: CacheKey, in collection: String) async throws {
        try await openAll()
        let item = SyncItemID(collection: collection, key: key)
        try await work.transact([item]) { $0.retry(item) }
    }

    /// Gives up a change that is not sent yet, with the others of its transaction.
    ///
    /// - Returns: The changes that were given up.
    package func discard(_ key: CacheKey, in collection: String) async throws -> [SyncOutcome] {
        try await openAll()
        let item = SyncItemID(collection: collection, key: key)
        try await work.outbox.checkRecord(of: item)
        return try await work.transact([item]) { draft in
            draft.discard(item)
            return draft.outcomes
        }
    }

    /// Opens the collections of all changes: a transaction may concern several of them.
    private func openAll() async throws {
        for name in Set(try await fetchPending().map(\.collection)) where work.collections.collection(name) == nil {
            try work.collections.add(
                SyncedCollection(engine: try await open(name), policy: .laterWins, known: nil), named: name)
        }
    }

    /// The merged changes of which a property was not taken, the oldest first.
    package func fetchConflicts() async throws -> [StoredConflict] { try await work.outbox.fetchConflicts() }

    /// Removes a conflict.
    package func removeConflict(_ id: UUID) async throws { try await work.outbox.removeConflict(id) }
}

extension StorageSync {
    /// Begins to note the changes of a local database, without a remote one.
    package static func unconnected(
        local: @escaping @Sendable (_ collection: String) async throws -> any StorageEngine
    ) async throws -> StorageSync {
        var options = SyncOptions()
        options.startsPaused = true
        return try await StorageSync(local: local, remote: UnreachableRemote(), options: options)
    }
}

/// A remote database that can't be reached.
private struct UnreachableRemote: SyncRemote {
    let maximumItems = 1_000
    let signalsChanges = true

    private static var error: StorageError { StorageError(.unreachable, "There is no remote database.") }

    func apply(_ batch: SyncBatch) async throws -> Bool { throw Self.error }

    func fence(_ batch: SyncBatch) async throws -> Bool { throw Self.error }

    func pull(
        _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]],
        _ receive: @escaping @Sendable (SyncNews) async throws -> Void
    ) async throws { throw Self.error }

    func signals(of collections: [String]) -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
