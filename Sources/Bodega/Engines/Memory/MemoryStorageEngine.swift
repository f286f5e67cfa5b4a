public import Foundation

/// An engine that keeps its items in memory: for tests, previews and caches.
///
/// It has indexes like ``SQLiteStorageEngine``, which live as long as its items: a query finds a page of many items, or
/// counts them, without reading the others.
///
/// It is thread-safe, its batches are atomic, its reads never fail, and its items are discarded with it.
public final class MemoryStorageEngine: StorageBackend {

    private let collections: MemoryCollections
    let collection: MemoryCollection
    private let origin = StorageOrigin()
    private let clock: @Sendable () -> Date
    private let pace = TaskPace()

    var items: Locked<MemoryItems> { collection.items }

    /// Creates an empty engine.
    ///
    /// - Parameter now: Returns the time, for the dates of the items.
    public convenience init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.init(MemoryCollections(), name: "", now: now)
    }

    private init(_ collections: MemoryCollections, name: String, now: @escaping @Sendable () -> Date) {
        self.collections = collections
        collection = collections.collection(named: name)
        clock = now
    }

    /// Creates an engine that holds items.
    package convenience init(items: [(key: CacheKey, data: Data)]) {
        self.init()
        change(items.lazy.map { .write(key: $0.key, data: $0.data) })
    }

    private func change(_ operations: some Sequence<StorageOperation>) {
        let (date, origin) = (now(), currentOrigin)
        items.withLock { $0.apply(operations, dates: [:], at: date, by: origin) }
        collection.signals.send()
    }

    public func now() -> Date { clock() }

    public var traits: StorageTraits { [.atomic, .conditional, .dated, .stablePositions, .ignoresCancellation] }

    // MARK: Reading

    private func reading<Result>(_ read: (inout MemoryItems) throws -> Result) rethrows -> Result {
        guard var items = collections.itemsAtMoment(collection.number) else { return try items.withLock(read) }
        return try read(&items)
    }

    public func fetch(key: CacheKey) async throws -> Data? {
        await pace.count()
        return reading { $0.core[key]?.data }
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        await pace.count()
        return reading { items in
            StorageAnswer(
                request.keys.compactMap { key in
                    items.core[key].map { entry in
                        var item = StorageItem(entry, request.fields)
                        if request.fields.contains(.place), let index = request.index {
                            let keys = items.sortKeys(of: entry, in: index)
                            item.sortKey = keys?.last
                            if !index.others.isEmpty { item.sortKeys = keys ?? [] }
                        }
                        return item
                    }
                })
        }
    }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        await pace.count()
        // A copy, which shares its memory with the items until they change.
        let (items, cursor) = reading { items in
            let cursor = request.needsCursor ? items.startedHistory().cursor : nil
            return (items.withoutHistory, cursor)
        }
        var outcome = ScanOutcome(cursor: cursor)
        for scan in request.counted { outcome.count += try items.count(scan) }
        outcome.count = min(outcome.count, request.countLimit)
        if request.scans.isEmpty { return StorageAnswer(outcome) }
        let receive = try begin()
        var pace = ScanPace()
        for (number, scan) in request.scans.enumerated() {
            for found in try items.items(of: scan) {
                try await pace.count(found.entry.data)
                outcome.byteCount += found.entry.data.count
                var item = StorageItem(found.entry, request.fields.union(.place))
                (item.sortKey, item.sortKeys) = (found.sortKey, found.sortKeys)
                if try !receive(number, item) { break }
            }
        }
        return StorageAnswer(outcome)
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        await pace.count()
        return reading { $0.core.entries.map { ($0.key, $0.data) } }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        await pace.count()
        return reading { $0.core.entries.map(\.key) }
    }

    // MARK: Writing

    public func write(_ data: Data, key: CacheKey) async throws {
        await pace.count()
        change(CollectionOfOne(.write(key: key, data: data)))
    }

    public func remove(key: CacheKey) async throws {
        _ = try await apply(StorageBatch([.remove(key: key)]))
    }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        await pace.count()
        if let group = batch.group { return try await group.join(self, collection: collection.number, batch) }
        let (date, origin) = (now(), batch.origin ?? currentOrigin)
        if batch.heedsReferences, collections.follows(batch.operations, in: collection.name) {
            let part = MemoryCollections.Part(collection: collection, batch: batch, origin: origin.shared, date: date)
            return StorageAnswer(try collections.apply([part])[0])
        }
        let outcome = items.withLock { items in
            guard items.allows(batch) else { return BatchOutcome(wasApplied: false) }
            return BatchOutcome(commit: items.apply(batch, at: date, by: origin))
        }
        if outcome.wasApplied { collection.signals.send() }
        return StorageAnswer(outcome)
    }

    /// The origin of a batch that names none.
    var currentOrigin: StorageOrigin { StorageOrigin.current ?? origin }

    // MARK: Collections

    /// Another collection, which can change together with this one.
    ///
    /// The two share no items: equal keys name different items. Engines on a collection of the same name share its
    /// items, which are discarded with the last engine on any of the collections.
    ///
    /// - Parameter name: The collection's name, any string. The empty one is that of an engine that was not created by
    ///   this method. Names are compared byte by byte.
    public func collection(named name: String) -> MemoryStorageEngine {
        MemoryStorageEngine(collections, name: name, now: clock)
    }

    /// The collections that were created from one engine by ``collection(named:)``.
    public var database: (any StorageDatabase)? { collections }

    public var log: (any StorageLog)? { self }

    public var references: (any StorageReferences)? { self }

    public var indexes: (any StorageIndexes)? { self }
}

extension MemoryStorageEngine: ReferenceLinks {

    package func fetchLinks(to targets: [String]) -> [ReferenceLink] { collections.links(to: targets) }
}

extension MemoryStorageEngine: StorageReferences {

    public func fetchReferences() async throws -> [StorageReference] { collections.references(of: collection.name) }

    public func isReferenced() async throws -> Bool { !collections.links(to: [collection.name]).isEmpty }

    /// Declares the references of the collection, for as long as its items exist. To find the items that name a removed
    /// one, all items are read, unless there is an index over the member.
    public func declareReferences(_ references: [StorageReference]) async throws {
        try references.check()
        collections.declare(references, of: collection.name)
    }
}

extension MemoryStorageEngine: StorageIndexes {

    public func fetchIndexes() async throws -> Set<StorageIndex> { reading { $0.existingIndexes } }

    /// Creates an index, unless it exists. Other readers and writers wait while all items are read, about a second for
    /// 300,000 items. Each write then takes a time that grows with the logarithm of the number of items.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` for an index for searches: a search reads all items.
    public func createIndex(_ index: StorageIndex) async throws {
        if index.searchForm != nil { throw StorageError.hasNoSearchIndex }
        try index.checkCondition()
        items.withLock { $0.createIndex(index) }
    }

    public func removeIndex(_ index: StorageIndex) async throws { items.withLock { $0.removeIndex(index) } }
}

extension StorageItem {
    fileprivate init(_ entry: MemoryCore.Entry, _ fields: StorageFields) {
        self.init(
            key: entry.key, data: entry.data, position: fields.contains(.place) ? entry.position : 0,
            dates: fields.contains(.dates) ? entry.dates : nil)
    }
}

extension MemoryStorageEngine: StorageLog {

    public func fetchCursor() async throws -> StorageCursor {
        await pace.count()
        return reading { $0.startedHistory().cursor }
    }

    public func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        await pace.count()
        return reading { items in
            guard var delta = items.history?.delta(since: request.cursor, excluding: request.excluded) else {
                var answer = StorageAnswer<StorageDelta?>(nil)
                answer.report.isOtherLog = items.history?.isOther(request.cursor) ?? !request.cursor.isOfScope
                return answer
            }
            if request.needsItems {
                delta.items = delta.keysWritten(for: request).compactMap { key in
                    items.core[key].map { StorageItem($0, request.fields) }
                }
            }
            return StorageAnswer(delta)
        }
    }

    public func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
        collection.signals.stream()
    }
}
