/// The use of the cache of a ``CachedStorageEngine``.
public struct StorageCacheStatistics: Hashable, Sendable {
    /// The number of items in the cache.
    public var count: Int
    /// The number of bytes of all items in the cache, without those of keys and bookkeeping, which count for its limit.
    public var byteCount: Int
    /// The number of items that were read from the cache, since its creation.
    public var hitCount: Int
    /// The number of items that were read from the other engine, or found to be absent there, since the creation of the
    /// cache. Reads that wait for another one are not counted.
    public var missCount: Int

    /// The part of the reads by key that the cache has answered, from 0 to 1; 0 if there were none.
    public var hitRate: Double {
        let reads = hitCount + missCount
        return reads == 0 ? 0 : Double(hitCount) / Double(reads)
    }
}
