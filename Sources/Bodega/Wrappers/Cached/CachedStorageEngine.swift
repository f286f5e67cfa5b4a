public import Foundation

/// An engine that holds items of another engine in memory. ``StorageEngine/cached(count:bytes:)`` creates one.
///
/// - Reading an item by its key keeps it, and later reads return it without calling the other engine, until the item is
///   changed or evicted. Several items are read from the cache if all are in it, otherwise from the other engine in one
///   call. Concurrent reads of one absent item are one read.
/// - Writes go to the other engine and return when that has applied them. A read after a write returns what was
///   written.
/// - Calls that read all items, keys, numbers or dates are those of the other engine, and change nothing in the cache.
/// - If the other engine is an ``ObservableStorageEngine``, changes by other writers reach the cache by its change
///   feed, usually within milliseconds. Until then, a read may return the previous item. The cache begins to hold items
///   when it has read the feed's first cursor, and is not used while the feed can't be read. Otherwise write only
///   through the cache: it does not observe changes by other writers.
///
/// The limits are exact: at any time, also while other threads use it, the cache holds at most so many items, and takes
/// at most so many bytes. Each item counts with its bytes, those of its key, and 200 for bookkeeping. An item that is
/// larger than the limit is not cached.
///
/// An item is evicted when a new one needs its place. Which one is decided by the algorithm S3-FIFO, with queues that
/// adapt as in ARC: items that are read often stay, and a scan of all items does not displace them.
public struct CachedStorageEngine<Base: StorageEngine>: ForwardingStorageEngine {
    public let base: Base
    let cache: StorageCache
    private let follower: StorageCacheFollower?

    init(base: Base, limit: StorageLimit) {
        self.base = base
        cache = StorageCache(limit: limit)
        follower = (base as? any ObservableStorageEngine).map { [cache] in StorageCacheFollower(of: $0, for: cache) }
    }

    /// The use of the cache since its creation.
    public var statistics: StorageCacheStatistics { cache.statistics }

    public func forward<Value>(_ call: StorageCall, _ body: () async throws -> Value) async throws -> Value {
        let inner = InnerCall()
        // An engine inside may remove other items, to keep within its limits.
        defer { cache.invalidate(inner.evictedKeys) }
        guard let change = StorageCache.Change(call) else { return try await inner(body) }
        cache.beginWrite(change)
        var wasApplied = false
        defer { cache.endWrite(change, wasApplied: wasApplied) }
        let value = try await inner {
            if let follower { try await follower.withOrigin(body) } else { try await body() }
        }
        // A conditional batch returns whether it was applied.
        wasApplied = value as? Bool ?? true
        return value
    }

    public func fetch(key: CacheKey) async throws -> Data? {
        let outer = InnerCall.current
        if outer?.needsOriginal == true { return try await base.fetch(key: key) }
        while true {
            switch cache.beginReading(key) {
            case .hit(let data):
                answerFromCache(to: outer)
                return data
            case .wait(let load):
                outer?.answerFromCopy()
                switch try await cache.result(of: load) {
                case .success(let data): return data
                case .failure(is CancellationError): continue
                case .failure(let error): throw error
                }
            case .load(let load): return try await fetch(load)
            case .bypass:
                follower?.begin()
                return try await base.fetch(key: key)
            }
        }
    }

    private func fetch(_ load: StorageCacheLoad) async throws -> Data? {
        let inner = InnerCall()
        defer { cache.invalidate(inner.evictedKeys) }
        do {
            let data = try await inner { try await base.fetch(key: load.key) }
            cache.endLoad(load, .success(data), isKept: !inner.isFromCopy)
            return data
        } catch {
            // The error of a cancelled task is not that of the readers that wait for it.
            cache.endLoad(load, .failure(Task.isCancelled ? CancellationError() : error))
            throw error
        }
    }

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        let outer = InnerCall.current
        if outer?.needsOriginal == true { return try await base.fetch(keys: keys) }
        let (cached, loads) = cache.beginReading(keys)
        if let cached {
            answerFromCache(to: outer)
            return cached
        }
        follower?.begin()
        let inner = InnerCall()
        defer { cache.invalidate(inner.evictedKeys) }
        do {
            let items = try await inner { try await base.fetch(keys: keys) }
            let data = Dictionary(items.map { ($0.key, $0.data) }) { first, _ in first }
            for load in loads { cache.endLoad(load, .success(data[load.key]), isKept: !inner.isFromCopy) }
            return items
        } catch {
            for load in loads { cache.endLoad(load, .failure(Task.isCancelled ? CancellationError() : error)) }
            throw error
        }
    }
}

extension CachedStorageEngine {

    /// Reports an answer to a cache around this one. It must not keep the item, because it may have received the change
    /// of another writer before this cache does.
    private func answerFromCache(to outer: InnerCall?) {
        if follower != nil { outer?.answerFromCopy() }
    }
}

extension CachedStorageEngine: DatedStorageEngine where Base: DatedStorageEngine {}
extension CachedStorageEngine: ObservableStorageEngine where Base: ObservableStorageEngine {}
extension CachedStorageEngine: QueryableStorageEngine where Base: QueryableStorageEngine {}

extension CachedStorageEngine: ConditionalStorageEngine where Base: ConditionalStorageEngine {

    /// Applies operations if items are in the expected state. See ``ConditionalStorageEngine/apply(_:if:)``.
    ///
    /// If they are not, the cache discards the items of the conditions, so that the next read returns their state.
    public func apply(_ operations: [StorageOperation], if conditions: [StorageCondition]) async throws -> Bool {
        let wasApplied = try await forward(StorageCall(.applyIf, .operations(operations))) {
            try await base.apply(operations, if: conditions)
        }
        if !wasApplied { cache.invalidate(conditions.map(\.key)) }
        return wasApplied
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
    public func cached(count: Int? = nil, bytes: Int? = 64 << 20) -> CachedStorageEngine<Self> {
        CachedStorageEngine(base: self, limit: StorageLimit(count: count, bytes: bytes))
    }
}

extension StorageCache.Change {

    /// The change that a call makes; `nil` if it makes none.
    fileprivate init?(_ call: StorageCall) {
        guard call.operation.isWrite else { return nil }
        self = call.finalItems(maximumCount: StorageCache.maximumKeys).map { .items($0) } ?? .everything
    }
}
