public import Foundation

/// An engine that keeps its items in memory: for tests, previews and caches.
///
/// It is thread-safe, its batches are atomic, its reads never fail, and its items are discarded with it.
public final class MemoryStorageEngine: StorageEngine {

    let items = Locked(MemoryItems())
    private let signals = ChangeSignals()
    private let origin = StorageOrigin()
    private let now: @Sendable () -> Date

    /// Creates an empty engine.
    ///
    /// - Parameter now: Returns the time, for the dates of the items.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// Creates an engine that holds items.
    package convenience init(items: [(key: CacheKey, data: Data)]) {
        self.init()
        change(items.lazy.map { .write(key: $0.key, data: $0.data) })
    }

    private func change(_ operations: some Sequence<StorageOperation>) {
        let (date, origin) = (now(), StorageOrigin.current ?? origin)
        items.withLock { $0.apply(operations, at: date, by: origin) }
        signals.send()
    }

    public func write(_ data: Data, key: CacheKey) async throws {
        change(CollectionOfOne(.write(key: key, data: data)))
    }

    public func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        change(dataAndKeys.lazy.map { .write(key: $0.key, data: $0.data) })
    }

    public func read(key: CacheKey) async -> Data? {
        items.withLock { $0.core[key]?.data }
    }

    public func readDataAndKeys(keys: [CacheKey]) async -> [(key: CacheKey, data: Data)] {
        items.withLock { items in
            keys.compactMap { key in items.core[key].map { (key, $0.data) } }
        }
    }

    public func readAllDataAndKeys() async -> [(key: CacheKey, data: Data)] {
        items.withLock { $0.core.entries.map { ($0.key, $0.data) } }
    }

    public func remove(key: CacheKey) async throws {
        change(CollectionOfOne(.remove(key: key)))
    }

    public func remove(keys: [CacheKey]) async throws {
        change(keys.lazy.map { .remove(key: $0) })
    }

    public func removeAllData() async throws {
        change(CollectionOfOne(.removeAll))
    }

    public func keyExists(_ key: CacheKey) async -> Bool {
        items.withLock { $0.core.contains(key) }
    }

    public func keysExist(_ keys: [CacheKey]) async -> [CacheKey] {
        items.withLock { items in keys.filter(items.core.contains) }
    }

    public func keyCount() async -> Int {
        items.withLock { $0.core.count }
    }

    public func allKeys() async -> [CacheKey] {
        items.withLock { $0.core.entries.map(\.key) }
    }

    public func createdAt(key: CacheKey) async -> Date? {
        items.withLock { $0.core[key]?.dates.createdAt }
    }

    public func updatedAt(key: CacheKey) async -> Date? {
        items.withLock { $0.core[key]?.dates.updatedAt }
    }

    public func apply(_ operations: [StorageOperation]) async throws {
        change(operations)
    }
}

extension MemoryStorageEngine: DatedStorageEngine {

    public func fetchItems(keys: [CacheKey]) async throws -> [StorageItem] {
        items.withLock { items in
            keys.compactMap { key in items.core[key].map { StorageItem(key: key, data: $0.data, dates: $0.dates) } }
        }
    }

    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        items.withLock { $0.core.entries.map { ($0.key, $0.dates) } }
    }

    public func write(items: [StorageItem]) async throws {
        let origin = StorageOrigin.current ?? origin
        self.items.withLock { $0.write(items, by: origin) }
        signals.send()
    }
}

extension MemoryStorageEngine: ConditionalStorageEngine {

    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        let (date, origin) = (now(), StorageOrigin.current ?? origin)
        let areMet = items.withLock { items in
            guard conditions.allSatisfy({ items.core[$0.key]?.data == $0.data }) else { return false }
            items.apply(operations, at: date, by: origin)
            return true
        }
        if areMet { signals.send() }
        return areMet
    }
}

extension MemoryStorageEngine: ObservableStorageEngine {

    public func fetchCursor() async throws -> StorageCursor {
        items.withLock { $0.startedHistory().cursor }
    }

    public func fetchSnapshot() async throws -> StorageSnapshot {
        items.withLock { items in
            let history = items.startedHistory()
            return StorageSnapshot(items: items.core.entries.map { ($0.key, $0.data) }, cursor: history.cursor)
        }
    }

    public func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws
        -> StorageDelta?
    {
        items.withLock { $0.history?.delta(since: cursor, excluding: origin) }
    }

    public func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> (delta: StorageDelta, items: [(key: CacheKey, data: Data)])? {
        items.withLock { items in
            guard let delta = items.history?.delta(since: cursor, excluding: origin) else { return nil }
            let found = delta.keysWritten(excluding: origin).compactMap { key in
                items.core[key].map { (key: key, data: $0.data) }
            }
            return (delta, found)
        }
    }

    public func changeSignals() -> AsyncStream<Void> { signals.stream() }
}
