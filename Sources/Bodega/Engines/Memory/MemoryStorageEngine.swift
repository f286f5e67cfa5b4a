public import Foundation

/// An engine that keeps its items in memory: for tests, previews and caches.
///
/// It is thread-safe, its batches are atomic, its reads never fail, and its items are discarded with it.
public final class MemoryStorageEngine: StorageBackend {

    let items = Locked(MemoryItems())
    private let signals = ChangeSignals()
    private let origin = StorageOrigin()
    private let clock: @Sendable () -> Date

    /// Creates an empty engine.
    ///
    /// - Parameter now: Returns the time, for the dates of the items.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        clock = now
    }

    /// Creates an engine that holds items.
    package convenience init(items: [(key: CacheKey, data: Data)]) {
        self.init()
        change(items.lazy.map { .write(key: $0.key, data: $0.data) })
    }

    private func change(_ operations: some Sequence<StorageOperation>) {
        let (date, origin) = (now(), StorageOrigin.current ?? origin)
        items.withLock { $0.apply(operations, dates: [:], at: date, by: origin) }
        signals.send()
    }

    public func now() -> Date { clock() }

    public var traits: StorageTraits { [.atomic, .conditional, .dated, .stablePositions, .ignoresCancellation] }

    // MARK: Reading

    public func fetch(key: CacheKey) async throws -> Data? {
        items.withLock { $0.core[key]?.data }
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        items.withLock { items in
            StorageAnswer(request.keys.compactMap { key in items.core[key].map { StorageItem($0, request.fields) } })
        }
    }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        // A copy, which shares its memory with the items until they change.
        let (core, cursor) = items.withLock { items in
            (items.core, request.needsCursor ? items.startedHistory().cursor : nil)
        }
        var outcome = ScanOutcome(cursor: cursor)
        for scan in request.counted {
            let position = try scan.positionOfAll()
            outcome.count += position == .min ? core.count : core.entries(after: position).count { _ in true }
        }
        outcome.count = min(outcome.count, request.countLimit)
        if request.scans.isEmpty { return StorageAnswer(outcome) }
        let receive = try begin()
        var pace = ScanPace()
        for (number, scan) in request.scans.enumerated() {
            for entry in core.entries(after: try scan.positionOfAll()) {
                try await pace.count(entry.data)
                outcome.byteCount += entry.data.count
                if try !receive(number, StorageItem(entry, request.fields.union(.place))) { break }
            }
        }
        return StorageAnswer(outcome)
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        items.withLock { $0.core.entries.map { ($0.key, $0.data) } }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        items.withLock { $0.core.entries.map(\.key) }
    }

    // MARK: Writing

    public func write(_ data: Data, key: CacheKey) async throws {
        change(CollectionOfOne(.write(key: key, data: data)))
    }

    public func remove(key: CacheKey) async throws {
        change(CollectionOfOne(.remove(key: key)))
    }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        let (date, origin) = (now(), batch.origin ?? StorageOrigin.current ?? origin)
        let outcome = items.withLock { items in
            guard batch.conditions?.allSatisfy({ items.core[$0.key]?.data == $0.data }) ?? true else {
                return BatchOutcome(wasApplied: false)
            }
            let before = items.history?.cursor
            items.apply(batch.operations, dates: batch.dates, at: date, by: origin)
            return BatchOutcome(
                commit: before.flatMap { before in
                    items.history.map { StorageCommit(before: before, after: $0.cursor) }
                })
        }
        if outcome.wasApplied { signals.send() }
        return StorageAnswer(outcome)
    }

    public var log: (any StorageLog)? { self }
}

extension StorageItem {
    fileprivate init(_ entry: MemoryCore.Entry, _ fields: StorageFields) {
        self.init(
            key: entry.key, data: entry.data, position: fields.contains(.place) ? entry.position : 0,
            dates: fields.contains(.dates) ? entry.dates : nil)
    }
}

extension StorageScan {
    /// The position after which a scan of all items begins.
    fileprivate func positionOfAll() throws -> Int {
        guard case .all(let position) = self else { throw StorageError.missingIndexes }
        return position ?? .min
    }
}

extension MemoryStorageEngine: StorageLog {

    public func fetchCursor() async throws -> StorageCursor {
        items.withLock { $0.startedHistory().cursor }
    }

    public func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        items.withLock { items in
            guard var delta = items.history?.delta(since: request.cursor, excluding: request.excluded) else {
                return StorageAnswer(nil)
            }
            if request.needsItems {
                delta.items = delta.keysWritten(excluding: request.excluded).compactMap { key in
                    items.core[key].map { StorageItem($0, request.fields) }
                }
            }
            return StorageAnswer(delta)
        }
    }

    public func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> { signals.stream() }
}
