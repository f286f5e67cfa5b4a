/// The keys and sizes of all items of a ``LimitedStorageEngine``, in the order of their eviction.
///
/// They are a list, linked by places in `entries`: an item is appended to it, and keeps its place when it is
/// overwritten. All steps take constant time for each item of a call, and for each evicted one.
struct LimitedItems: Sendable {
    private struct Entry: Sendable {
        let key: CacheKey
        var bytes: Int
        var next = Self.none
        var previous: Int

        static let none = -1
    }

    private var entries: ContiguousArray<Entry> = []
    private var free: [Int] = []
    private var places: [CacheKey: Int] = [:]
    private var first = Entry.none
    private var last = Entry.none

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
        var (evicted, place) = ([CacheKey](), first)
        while !limit.allows(size), place != Entry.none {
            let entry = entries[place]
            if batch[entry.key] == nil {
                size -= StorageSize(count: 1, bytes: entry.bytes)
                evicted.append(entry.key)
            }
            place = entry.next
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
            append(Entry(key: key, bytes: bytes, previous: last))
            size += StorageSize(count: 1, bytes: bytes)
        }
    }

    private mutating func append(_ entry: Entry) {
        let place: Int
        if let reused = free.popLast() {
            place = reused
            entries[place] = entry
        } else {
            place = entries.count
            entries.append(entry)
        }
        places[entry.key] = place
        if last == Entry.none { first = place } else { entries[last].next = place }
        last = place
    }

    private mutating func remove(_ key: CacheKey) {
        guard let place = places.removeValue(forKey: key) else { return }
        let entry = entries[place]
        size -= StorageSize(count: 1, bytes: entry.bytes)
        if entry.previous == Entry.none { first = entry.next } else { entries[entry.previous].next = entry.next }
        if entry.next == Entry.none { last = entry.previous } else { entries[entry.next].previous = entry.previous }
        free.append(place)
    }
}
