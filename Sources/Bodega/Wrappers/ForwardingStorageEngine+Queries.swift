// The members of a QueryableStorageEngine.
extension ForwardingStorageEngine where Self: QueryableStorageEngine, Base: QueryableStorageEngine {

    /// Passes on items in order. See ``QueryableStorageEngine/scan(_:_:)``.
    public func scan(
        _ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws {
        try await forward(StorageCall(.scan)) { try await base.scan(scans, begin) }
    }

    /// Reads several items with their places. See ``QueryableStorageEngine/fetchEntries(keys:index:)``.
    public func fetchEntries(keys: [CacheKey], index: StorageIndex?) async throws -> [StorageEntry] {
        try await forward(StorageCall(.fetchEntries, .keys(keys))) {
            try await base.fetchEntries(keys: keys, index: index)
        }
    }

    /// Counts items without reading them. See ``QueryableStorageEngine/count(_:upTo:)``.
    public func count(_ scan: StorageScan, upTo limit: Int) async throws -> Int {
        try await forward(StorageCall(.countScan)) { try await base.count(scan, upTo: limit) }
    }

    /// Counts items without reading them, and passes on others. See ``QueryableStorageEngine/count(_:reading:_:)``.
    public func count(
        _ scans: [StorageScan], reading others: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> Int {
        try await forward(StorageCall(.countScan)) { try await base.count(scans, reading: others, begin) }
    }

    /// Returns the indexes that can be used. See ``QueryableStorageEngine/fetchIndexes()``.
    public func fetchIndexes() async throws -> Set<StorageIndex> {
        try await forward(StorageCall(.fetchIndexes)) { try await base.fetchIndexes() }
    }

    /// Creates an index. See ``QueryableStorageEngine/createIndex(_:)``.
    public func createIndex(_ index: StorageIndex) async throws {
        try await forward(StorageCall(.createIndex)) { try await base.createIndex(index) }
    }

    /// Removes an index. See ``QueryableStorageEngine/removeIndex(_:)``.
    public func removeIndex(_ index: StorageIndex) async throws {
        try await forward(StorageCall(.removeIndex)) { try await base.removeIndex(index) }
    }
}
