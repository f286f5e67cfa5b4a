/// The keys and sizes of all items of a ``LimitedStorageEngine``, in the order of their eviction.
///
/// An overwritten item keeps its place. All steps take constant time for each item of a call, and for each evicted one.
struct LimitedItems: Sendable {
    private struct Entry: Sendable {
        let key: CacheKey
        var bytes: Int
    }

    private var entries = LinkedQueues(vacant: Entry(key: CacheKey(verbatim: ""), bytes: 0))
    private var queue = LinkedQueues<Entry>.Queue()
    private var places: [CacheKey: Int] = [:]

    /// The number and the bytes of all items.
    private(set) var size = StorageSize()

    /// The keys that make room for written items: the first ones that the call does not write itself.
    ///
    /// - Parameters:
    ///   - batch: What the call leaves under each key that it changes.
    ///   - limit: The limits. They allow the batch alone.
    func evictions(for batch: [CacheKey: Int?], limit: StorageLimit) -> [CacheKey] {
        var size = size
        for (key, bytes) in batch {
            if let place = places[key] { size -= StorageSize(count: 1, bytes: entries[place].bytes) }
            if let bytes { size += StorageSize(count: 1, bytes: bytes) }
        }
        var (evicted, place) = ([CacheKey](), queue.first)
        while !limit.allows(size), place != LinkedQueues<Entry>.none {
            let entry = entries[place]
            if batch[entry.key] == nil {
                size -= StorageSize(count: 1, bytes: entry.bytes)
                evicted.append(entry.key)
            }
            place = entries.next(after: place)
        }
        return evicted
    }

    /// Sets the size of an item, `nil` if there is none.
    mutating func set(_ bytes: Int?, for key: CacheKey) {
        guard let bytes else { return remove(key) }
        if let place = places[key] {
            size.bytes += bytes - entries[place].bytes
            entries[place].bytes = bytes
        } else {
            let place = entries.add(Entry(key: key, bytes: bytes))
            entries.append(place, to: &queue)
            places[key] = place
            size += StorageSize(count: 1, bytes: bytes)
        }
    }

    private mutating func remove(_ key: CacheKey) {
        guard let place = places.removeValue(forKey: key) else { return }
        entries.unlink(place, from: &queue)
        size -= StorageSize(count: 1, bytes: entries.remove(place).bytes)
    }
}
