public import Bodega
public import Foundation

/// A collection of a local database that is synchronized, see ``StorageSync/collection(named:policy:)``.
///
/// It reads from the local engine. Each change is written to the outbox, too, in the same transaction.
public struct SyncedStorageEngine: StorageBackend {
    /// The synchronization.
    public let sync: StorageSync
    /// The name of the collection.
    public let collectionName: String
    let base: any StorageBackend

    /// Those of the local engine; each batch is conditional.
    public var traits: StorageTraits { base.traits }

    /// The synchronization, in which the collections can change in one transaction.
    public var database: (any StorageDatabase)? { sync }

    public var log: (any StorageLog)? { base.log }

    public var indexes: (any StorageIndexes)? { base.indexes }

    public var references: (any StorageReferences)? { base.references }

    public func now() -> Date { base.now() }

    public func examine() async throws -> [StorageFinding] { try await base.examine() }

    public func fetch(key: CacheKey) async throws -> Data? { try await base.fetch(key: key) }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        try await base.fetch(request)
    }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        try await base.scan(request, begin)
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await base.fetchAll() }

    public func fetchAllData() async throws -> [Data] { try await base.fetchAllData() }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? { try await base.fetchStream(key: key) }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        var batch = batch
        batch.origin = batch.origin ?? StorageOrigin.current
        if let group = batch.group { return try await group.join(self, collection: collectionName, batch) }
        return StorageAnswer(try await sync.apply([(collectionName, batch)])[0])
    }
}
