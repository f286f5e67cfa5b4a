extension MemoryStorageEngine: QueryableStorageEngine {

    /// Passes on all items in insertion order. The engine has no indexes; other scans are errors.
    ///
    /// The receiver runs in the caller's task, which suspends now and then so that others get its thread.
    public func scan(_ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver) async throws {
        let receive = try begin()
        // A copy, which shares its memory with the items until they change.
        let core = items.withLock { $0.core }
        var pace = ScanPace()
        for (number, scan) in scans.enumerated() {
            guard case .all(let position) = scan else {
                throw StorageError(.invalidArgument, "The engine has no indexes. Its queries read all items.")
            }
            for entry in core.entries(after: position ?? .min) {
                try await pace.count(entry.data)
                let place = StoragePlace(position: entry.position)
                if try !receive(number, StorageEntry(key: entry.key, data: entry.data, place: place)) { break }
            }
        }
    }

    public func fetchEntries(keys: [CacheKey], index: StorageIndex?) async throws -> [StorageEntry] {
        items.withLock { items in
            keys.compactMap { key in
                items.core[key].map {
                    StorageEntry(key: key, data: $0.data, place: StoragePlace(position: $0.position))
                }
            }
        }
    }
}
