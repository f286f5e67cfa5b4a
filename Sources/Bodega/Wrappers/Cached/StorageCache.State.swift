extension StorageCache {

    /// What the lock of a cache guards.
    struct State {
        var contents: CacheContents
        var loads: [CacheKey: StorageCacheLoad] = [:]
        var writes: [CacheKey: Write] = [:]
        /// The number of reasons for which the cache is suspended. It is empty then.
        var suspensions = 0
        var hitCount = 0
        var missCount = 0

        /// The writes of a key that are under way.
        struct Write {
            var count = 0
            /// Whether the item is unknown after the writes.
            var isAmbiguous = false
        }

        /// Begins a load, or returns `nil` if its item could not be kept.
        mutating func beginLoad(_ key: CacheKey) -> StorageCacheLoad? {
            guard suspensions == 0, writes[key] == nil else { return nil }
            let load = StorageCacheLoad(key)
            loads[key] = load
            return load
        }

        mutating func beginWrite(_ key: CacheKey) {
            invalidate(key)
            writes[key, default: Write()].count += 1
            // What suspends the cache, such as the removal of all items, may be applied before this or after it.
            if suspensions > 0 { writes[key]?.isAmbiguous = true }
        }

        /// Ends a write.
        ///
        /// - Returns: Whether the item is the one that was written, if the write was applied.
        mutating func endWrite(_ key: CacheKey) -> Bool {
            writes[key]?.count -= 1
            guard let write = writes[key], write.count == 0 else { return false }
            writes[key] = nil
            return !write.isAmbiguous && suspensions == 0
        }

        /// Removes an item, and detaches its load.
        mutating func invalidate(_ key: CacheKey) {
            contents.invalidate(key)
            loads[key] = nil
            writes[key]?.isAmbiguous = true
        }

        mutating func suspend() {
            suspensions += 1
            contents.removeAll()
            loads = [:]
            for key in writes.keys { writes[key]?.isAmbiguous = true }
        }
    }
}
