import Bodega
import BodegaSync
import Foundation

/// A remote database whose requests are counted, to show progress, and to notice that there is none.
final class CountedRemote: SyncRemote {
    private struct ItemName: Hashable {
        let collection: String
        let key: CacheKey
    }

    private struct Counts {
        /// An item can come several times, for example because it was in the way of a request.
        var received: Set<ItemName> = []
        var items = 0
        /// The batches that are being sent.
        var batches = 0
        var progress = ContinuousClock.now
    }

    private let base: EngineSyncRemote
    private let local: @Sendable (String) async throws -> any StorageBackend
    private let counts = Locked(Counts())

    /// - Parameter local: Opens a collection of the local database.
    init(_ base: EngineSyncRemote, local: @escaping @Sendable (String) async throws -> any StorageBackend) {
        (self.base, self.local) = (base, local)
    }

    /// The number of items of the remote database that have differed from the local ones.
    var received: Int { counts.withLock { $0.received.count } }

    /// The number of items that were sent or read.
    var items: Int { counts.withLock { $0.items } }

    /// Notes that there is progress, though nothing was sent or read.
    func noteProgress() { counts.withLock { $0.progress = .now } }

    /// The time since the last progress.
    var idleTime: Duration { counts.withLock { .now - $0.progress } }

    /// Whether changes are being sent.
    var isSending: Bool { counts.withLock { $0.batches > 0 } }

    var maximumItems: Int { base.maximumItems }

    var signalsChanges: Bool { base.signalsChanges }

    func apply(_ batch: SyncBatch) async throws -> Bool {
        counts.withLock { $0.batches += 1 }
        defer { counts.withLock { $0.batches -= 1 } }
        let wasApplied = try await base.apply(batch)
        add(items: batch.changes.count)
        return wasApplied
    }

    func fence(_ batch: SyncBatch) async throws -> Bool { try await base.fence(batch) }

    func pull(
        _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]],
        _ receive: @escaping @Sendable (SyncNews) async throws -> Void
    ) async throws {
        try await base.pull(places, needing: keys) { [self] news in
            if case .items(let items, let collection, _) = news {
                // Items that were in the way of a request are read again.
                if items.map(\.key) == keys[collection] { return try await receive(news) }
                // What this replica has sent comes back.
                let stored = try await local(collection).fetch(keys: items.map(\.key))
                let known = Dictionary(stored.map { ($0.key, $0.data) }) { first, _ in first }
                let different = items.filter { known[$0.key] != $0.data }
                add(items: items.count, received: different.map { ItemName(collection: collection, key: $0.key) })
            }
            try await receive(news)
        }
    }

    func signals(of collections: [String]) -> AsyncStream<Void> { base.signals(of: collections) }

    private func add(items: Int, received: [ItemName] = []) {
        counts.withLock { counts in
            counts.items += items
            counts.received.formUnion(received)
            counts.progress = .now
        }
    }
}
