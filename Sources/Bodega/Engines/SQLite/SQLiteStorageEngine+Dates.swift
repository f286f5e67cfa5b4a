extension SQLiteStorageEngine: DatedStorageEngine {

    public func fetchItems(keys: [CacheKey]) async throws -> [StorageItem] {
        try await core.readMany { [table] db in try table.datedItems(of: keys, in: db) }
    }

    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        try await core.readMany { [table] db in try table.allDates(in: db) }
    }

    public func write(items: [StorageItem]) async throws {
        if items.isEmpty { return }
        let change = change { items.map { .write(key: $0.key, data: $0.data) } }
        try await core.write(change) { [table] db in
            try table.write(items, by: change.origin, in: db)
        }
    }
}
