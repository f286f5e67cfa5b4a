import Foundation

extension StorageEngine {

    /// The form of the engine in which this package uses it: the engine itself, or an adapter.
    public var backend: any StorageBackend { self as? any StorageBackend ?? AdaptedEngine(engine: self) }
}

/// An engine that has only the members of `StorageEngine`, as a backend.
struct AdaptedEngine: StorageBackend {
    let engine: any StorageEngine

    var traits: StorageTraits { [] }

    func fetch(key: CacheKey) async throws -> Data? { try await engine.fetch(key: key) }

    func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] { try await engine.fetch(keys: keys) }

    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await engine.fetchAll() }

    func fetchAllData() async throws -> [Data] { try await engine.fetchAllData() }

    func fetchKeys() async throws -> [CacheKey] { try await engine.fetchKeys() }

    func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await engine.fetchKeys(among: candidates)
    }

    func fetchCount() async throws -> Int { try await engine.fetchCount() }

    func fetchDates(key: CacheKey) async throws -> StorageDates? { try await engine.fetchDates(key: key) }

    func fetchStream(key: CacheKey) async throws -> StorageByteStream? { try await engine.fetchStream(key: key) }

    func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        try await engine.write(stream: stream, key: key)
        return StorageAnswer(BatchOutcome())
    }

    /// The simplest method for the operations, because an engine that was written for the first Bodega may have only
    /// that one at its full speed.
    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        guard batch.conditions == nil, batch.basis == nil else { throw StorageError.missingConditions }
        try await StorageOrigin.$current.withValue(batch.origin ?? StorageOrigin.current) {
            switch batch.operations.first {
            case .write(let key, let data) where batch.operations.count == 1: try await engine.write(data, key: key)
            case .remove(let key) where batch.operations.count == 1: try await engine.remove(key: key)
            case .removeAll where batch.operations.count == 1: try await engine.removeAllData()
            default: try await engine.apply(batch.operations)
            }
        }
        return StorageAnswer(BatchOutcome())
    }

    func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        if request.fields.contains(.place) { return try await fetchWithPlaces(request) }
        var report = StorageReport()
        var items: [StorageItem]
        if !request.fields.isDisjoint(with: [.data, .expiry]) {
            items = try await readable(request.keys, request.options, &report) { keys in
                try await engine.fetch(keys: keys).map { StorageItem(key: $0.key, data: $0.data) }
            }
        } else {
            items = try await engine.fetchKeys(among: request.keys).map { StorageItem(key: $0) }
        }
        if request.fields.contains(.dates) {
            for place in items.indices { items[place].dates = try await engine.fetchDates(key: items[place].key) }
            // They were removed in the meantime.
            items.removeAll { $0.dates == nil }
        }
        return StorageAnswer(items, report)
    }

    /// Reads items, one by one if one of them can't be read and may be omitted.
    private func readable(
        _ keys: [CacheKey], _ options: ReadOptions, _ report: inout StorageReport,
        _ read: ([CacheKey]) async throws -> [StorageItem]
    ) async throws -> [StorageItem] {
        do {
            return try await read(keys)
        } catch let error as StorageError where error.key != nil && options.omitsUnreadable {
            var items: [StorageItem] = []
            for key in keys {
                do {
                    items += try await read([key])
                } catch let error as StorageError where error.key != nil {
                    report.unreadable.append(error)
                }
            }
            return items
        }
    }

    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        try await scanByKeys(request, begin)
    }
}
