// The members of a QueryableStorageEngine. It has no indexes: those of the base are over what the base keeps.
extension TransformingStorageEngine where Self: QueryableStorageEngine, Base: QueryableStorageEngine {

    /// Passes on all items in insertion order. See ``QueryableStorageEngine/scan(_:_:)``.
    public func scan(
        _ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws {
        try await callBase {
            try await base.scan(scans) {
                let receive = try begin()
                return { number, stored in
                    guard let (key, data) = try item((stored.key, stored.data)) else { return true }
                    return try receive(number, StorageEntry(key: key, data: data, place: stored.place))
                }
            }
        }
    }

    /// Reads several items with their places. See ``QueryableStorageEngine/fetchEntries(keys:index:)``.
    public func fetchEntries(keys: [CacheKey], index: StorageIndex?) async throws -> [StorageEntry] {
        try await callBase { try await base.fetchEntries(keys: keys.map(storedKey), index: nil) }.compactMap { stored in
            try item((stored.key, stored.data)).map { StorageEntry(key: $0.key, data: $0.data, place: stored.place) }
        }
    }
}
