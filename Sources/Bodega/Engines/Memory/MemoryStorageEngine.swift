public import Foundation

/// An engine that keeps its items in memory: for tests, previews and caches.
///
/// It is thread-safe, its batches are atomic, its reads never fail, and its items are gone with it.
public final class MemoryStorageEngine: StorageEngine {

    private let core = Locked(MemoryCore())
    private let now: @Sendable () -> Date

    /// Creates an empty engine.
    ///
    /// - Parameter now: Tells the time, for the dates of the items.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// Creates an engine that holds items.
    package convenience init(items: [(key: CacheKey, data: Data)]) {
        self.init()
        let date = now()
        core.withLock { core in
            for (key, data) in items { core.write(data, key: key, at: date) }
        }
    }

    public func write(_ data: Data, key: CacheKey) async throws {
        let date = now()
        core.withLock { $0.write(data, key: key, at: date) }
    }

    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        let date = now()
        core.withLock { core in
            for (key, data) in dataAndKeys { core.write(data, key: key, at: date) }
        }
    }

    public func read(key: CacheKey) async -> Data? {
        core.withLock { $0[key]?.data }
    }

    public func readDataAndKeys(keys: [CacheKey]) async -> [(key: CacheKey, data: Data)] {
        core.withLock { core in
            keys.compactMap { key in core[key].map { (key, $0.data) } }
        }
    }

    public func readAllDataAndKeys() async -> [(key: CacheKey, data: Data)] {
        core.withLock { core in core.entries.map { ($0.key, $0.data) } }
    }

    public func remove(key: CacheKey) async throws {
        core.withLock { $0.remove(key) }
    }

    public func remove(keys: [CacheKey]) async throws {
        core.withLock { core in
            for key in keys { core.remove(key) }
        }
    }

    public func removeAllData() async throws {
        core.withLock { $0.removeAll() }
    }

    public func keyExists(_ key: CacheKey) async -> Bool {
        core.withLock { $0.contains(key) }
    }

    public func keysExist(_ keys: [CacheKey]) async -> [CacheKey] {
        core.withLock { core in keys.filter(core.contains) }
    }

    public func keyCount() async -> Int {
        core.withLock { $0.count }
    }

    public func allKeys() async -> [CacheKey] {
        core.withLock { core in core.entries.map(\.key) }
    }

    public func createdAt(key: CacheKey) async -> Date? {
        core.withLock { $0[key]?.dates.createdAt }
    }

    public func updatedAt(key: CacheKey) async -> Date? {
        core.withLock { $0[key]?.dates.updatedAt }
    }

    public func apply(_ operations: [StorageOperation]) async throws {
        let date = now()
        core.withLock { $0.apply(operations, at: date) }
    }
}

extension MemoryStorageEngine: DatedStorageEngine {

    public func fetchItems(keys: [CacheKey]) async throws -> [StorageItem] {
        core.withLock { core in
            keys.compactMap { key in core[key].map { StorageItem(key: key, data: $0.data, dates: $0.dates) } }
        }
    }

    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        core.withLock { core in core.entries.map { ($0.key, $0.dates) } }
    }

    public func write(items: [StorageItem]) async throws {
        core.withLock { core in
            for item in items { core.write(item) }
        }
    }
}
