/// The keys and sizes of all items of a ``LimitedStorageEngine``, in the order of their eviction.
///
/// 1. An item is appended to `slots`, and keeps its slot when it is overwritten.
/// 2. A removal leaves a gap. When there are more gaps than items, `slots` is packed.
///
/// All steps take amortized constant time for each item of a call, and for each evicted one.
struct LimitedItems: Sendable {
    private var slots: [(key: CacheKey, bytes: Int)?] = []
    private var slotOfKey: [CacheKey: Int] = [:]
    /// There is no item before this slot.
    private var first = 0

    /// The number and the bytes of all items.
    private(set) var size = StorageSize()

    /// The keys that make room for written items: the first ones that the call does not write itself.
    ///
    /// - Parameters:
    ///   - batch: What the call leaves under each key that it changes.
    ///   - limit: The limits. They allow the batch alone.
    mutating func evictions(for batch: [CacheKey: Int?], limit: StorageLimit) -> [CacheKey] {
        var size = size
        for (key, bytes) in batch {
            if let slot = slotOfKey[key], let old = slots[slot] { size -= StorageSize(count: 1, bytes: old.bytes) }
            if let bytes { size += StorageSize(count: 1, bytes: bytes) }
        }
        while first < slots.count, slots[first] == nil { first += 1 }
        var (evicted, slot) = ([CacheKey](), first)
        while !limit.allows(size), slot < slots.count {
            if let item = slots[slot], batch[item.key] == nil {
                size -= StorageSize(count: 1, bytes: item.bytes)
                evicted.append(item.key)
            }
            slot += 1
        }
        return evicted
    }

    /// Sets the size of an item, `nil` if there is none.
    mutating func set(_ bytes: Int?, for key: CacheKey) {
        guard let bytes else { return remove(key) }
        if let slot = slotOfKey[key], let old = slots[slot] {
            size.bytes += bytes - old.bytes
            slots[slot]?.bytes = bytes
        } else {
            slotOfKey[key] = slots.count
            slots.append((key, bytes))
            size += StorageSize(count: 1, bytes: bytes)
        }
    }

    private mutating func remove(_ key: CacheKey) {
        guard let slot = slotOfKey.removeValue(forKey: key), let old = slots[slot] else { return }
        size -= StorageSize(count: 1, bytes: old.bytes)
        slots[slot] = nil
        guard slots.count > 32, slots.count > slotOfKey.count * 2 else { return }
        slots.removeAll { $0 == nil }
        first = 0
        for (slot, item) in slots.enumerated() {
            if let item { slotOfKey[item.key] = slot }
        }
    }
}
