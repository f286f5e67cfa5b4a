extension DiskStorageEngine: DatedStorageEngine {

    public func fetchItems(keys: [CacheKey]) async throws -> [StorageItem] {
        try await reading { try $0.datedItems(of: keys) }
    }

    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        try await reading { try $0.allDates() }
    }

    public func write(items: [StorageItem]) async throws {
        let dates = Dictionary(items.map { ($0.key, $0.dates) }) { $1 }
        try await apply(items.map { .write(key: $0.key, data: $0.data) }, dates: dates)
    }
}
