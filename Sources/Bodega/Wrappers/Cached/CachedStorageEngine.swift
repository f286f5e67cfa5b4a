public import Foundation

/// An engine that holds items of another engine in memory. ``StorageEngine/cached(count:bytes:)`` creates one.
///
/// - Reading an item by its key keeps it, and later reads return it without calling the other engine, until the item is
///   changed or evicted. Several items are read from the cache if all are in it, otherwise from the other engine in one
///   call. Concurrent reads of one absent item are one read.
/// - Writes go to the other engine and return when that has applied them. A read after a write returns what was
///   written.
/// - Calls that read all items, keys, numbers or dates are those of the other engine, and change nothing in the cache.
/// - If the other engine has a ``StorageBackend/log``, changes by other writers reach the cache by its change feed,
///   usually within milliseconds. Until then, a read may return the previous item. The cache begins to hold items when
///   it has read the feed's first cursor, and is not used while the feed can't be read. Otherwise write only through
///   the cache: it does not observe changes by other writers.
/// - Items that a ``MirroredStorageEngine`` inside returns from its mirror are not kept, because they may be older than
///   those of its base.
///
/// The limits are exact: at any time, also while other threads use it, the cache holds at most so many items, and takes
/// at most so many bytes. Each item counts with its bytes, those of its key, and 200 for bookkeeping. An item that is
/// larger than the limit is not cached.
///
/// An item is evicted when a new one needs its place. Which one is decided by the algorithm S3-FIFO, with queues that
/// adapt as in ARC: items that are read often stay, and a scan of all items does not displace them.
public struct CachedStorageEngine: ForwardingStorageEngine {
    public let base: any StorageBackend
    let cache: StorageCache
    private let pace = TaskPace(512)
    private let follower: StorageCacheFollower?

    init(base: any StorageBackend, limit: StorageLimit) {
        self.base = base
        cache = StorageCache(limit: limit)
        follower = base.log.map { [cache] in StorageCacheFollower(of: $0, for: cache) }
    }

    /// The use of the cache since its creation.
    public var statistics: StorageCacheStatistics { cache.statistics }

    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        // An engine inside may remove other items, to keep within its limits.
        do {
            let answer = try await body()
            cache.invalidate(answer.report.evicted)
            return answer
        } catch {
            if base.traits.contains(.evicts) { cache.clear() }
            throw error
        }
    }

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        var items = batch.finalItems(maximumCount: StorageCache.maximumKeys)
        if batch.isRecognized(by: base) { items = items?.mapValues { _ in nil } }
        let change = items.map { StorageCache.Change.items($0) }
        let answer = try await applying(change ?? .everything) {
            var batch = batch
            batch.origin = batch.origin ?? StorageOrigin.current ?? follower?.origin
            return try await forward(.apply(batch)) { try await base.apply(batch) }
        }
        if !answer.value.wasApplied { cache.invalidate((batch.conditions ?? []).map(\.key)) }
        // What has followed from a removal, because of references, has no place in the log.
        let mayHaveFollowed = base.references != nil && batch.operations.contains(where: \.isRemoval)
        if mayHaveFollowed, answer.value.wasApplied, answer.value.commit == nil { cache.clear() }
        return answer
    }

    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        try await applying(.items([key: nil])) {
            try await forward(.applyStream(key, stream)) { try await base.apply(stream, key: key) }
        }
    }

    private func applying(
        _ change: StorageCache.Change, _ body: () async throws -> StorageAnswer<BatchOutcome>
    ) async throws -> StorageAnswer<BatchOutcome> {
        cache.beginWrite(change)
        var wasApplied = false
        defer { cache.endWrite(change, wasApplied: wasApplied) }
        let answer = try await body()
        wasApplied = answer.value.wasApplied
        return answer
    }

    public func fetch(key: CacheKey) async throws -> Data? {
        if StorageMoment.isCurrent { return try await fetch(FetchRequest([key])).value.first?.data }
        await pace.count()
        let reading = cache.beginReading(key)
        if case .hit(let data) = reading { return data }
        return try await fetch(key, reading, ReadOptions()).value
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        // What is read at an earlier moment may have changed since.
        guard request.fields == .data, !request.options.needsOriginal, !StorageMoment.isCurrent else {
            return try await forward(.fetch(request)) { try await base.fetch(request) }
        }
        await pace.count(request.keys.count)
        if request.keys.count != 1 { return try await fetchMany(request) }
        let key = request.keys[0]
        let answer = try await fetch(key, cache.beginReading(key), request.options)
        return StorageAnswer(answer.value.map { [StorageItem(key: key, data: $0)] } ?? [], answer.report)
    }

    private func fetch(
        _ key: CacheKey, _ reading: StorageCache.Reading, _ options: ReadOptions
    ) async throws -> StorageAnswer<Data?> {
        var reading = reading
        while true {
            switch reading {
            case .hit(let data): return StorageAnswer(data, reportOfHit)
            case .wait(let load):
                var report = StorageReport()
                report.sources = .copy
                switch try await cache.result(of: load) {
                case .success(let data): return StorageAnswer(data, report)
                case .failure(is CancellationError): reading = cache.beginReading(key)
                case .failure(let error as StorageError) where options.omitsUnreadable && error.key != nil:
                    report.unreadable = [error]
                    return StorageAnswer(nil, report)
                case .failure(let error): throw error
                }
            case .load(let load):
                let answer = try await self.load(FetchRequest([key], options: options), [load])
                return StorageAnswer(answer.value.first?.data, answer.report)
            case .bypass:
                follower?.begin()
                let answer = try await base.fetch(FetchRequest([key], options: options))
                return StorageAnswer(answer.value.first?.data, answer.report)
            }
        }
    }

    private func fetchMany(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        let (cached, loads) = cache.beginReading(request.keys)
        if let cached { return StorageAnswer(cached.map { StorageItem(key: $0.key, data: $0.data) }, reportOfHit) }
        follower?.begin()
        return try await load(request, loads)
    }

    /// Reads items, and keeps those of some loads.
    private func load(
        _ request: FetchRequest, _ loads: [StorageCacheLoad]
    ) async throws -> StorageAnswer<[StorageItem]> {
        do {
            let answer = try await forward(.fetch(request)) { try await base.fetch(request) }
            let isKept = !answer.report.sources.contains(.copy)
            let errors = Dictionary(answer.report.unreadable.map { ($0.key, $0) }) { first, _ in first }
            if loads.count == 1, request.keys.count == 1, errors.isEmpty {
                cache.endLoad(loads[0], .success(answer.value.first?.data), isKept: isKept)
                return answer
            }
            let data = Dictionary(answer.value.map { ($0.key, $0.data) }) { first, _ in first }
            for load in loads {
                let result: Result<Data?, any Error> = errors[load.key].map { .failure($0) } ?? .success(data[load.key])
                cache.endLoad(load, result, isKept: isKept)
            }
            return answer
        } catch {
            // The error of a cancelled task is not that of the readers that wait for it.
            for load in loads { cache.endLoad(load, .failure(Task.isCancelled ? CancellationError() : error)) }
            throw error
        }
    }

    /// What others change in the base is noticed a little later, so the cache is a copy then.
    private var reportOfHit: StorageReport {
        var report = StorageReport()
        if follower != nil { report.sources = .copy }
        return report
    }
}

extension StorageEngine {

    /// Returns an engine that holds items of this engine in memory.
    ///
    /// ```swift
    /// let engine = try SQLiteStorageEngine(opening: directory).cached(bytes: 16 << 20)
    /// ```
    ///
    /// - Parameters:
    ///   - count: The maximum number of items; `nil` for no limit.
    ///   - bytes: The maximum number of bytes that the cache takes, see ``CachedStorageEngine``; `nil` for no limit.
    public func cached(count: Int? = nil, bytes: Int? = 64 << 20) -> CachedStorageEngine {
        CachedStorageEngine(base: backend, limit: StorageLimit(count: count, bytes: bytes))
    }
}
