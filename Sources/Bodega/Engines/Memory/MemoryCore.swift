package import Foundation

/// Items in memory, in insertion order. Every operation on one item takes amortized constant time.
///
/// 1. A write appends an entry to `slots` and stores its index in `slotOfKey`, or overwrites the entry at its index.
/// 2. A removal leaves a gap in `slots`.
/// 3. When there are more gaps than entries, `slots` is packed.
///
/// It is a value without a lock; ``MemoryStorageEngine`` guards it.
package struct MemoryCore: Sendable {

    /// An item and its dates.
    package struct Entry: Sendable {
        package let key: CacheKey
        /// The place in insertion order.
        package let position: Int
        package fileprivate(set) var data: Data
        package fileprivate(set) var dates: StorageDates
    }

    private var slots: [Entry?] = []
    private var slotOfKey: [CacheKey: Int] = [:]
    private var nextPosition = 0

    /// Creates an empty core.
    package init() {}

    /// The number of items.
    package var count: Int { slotOfKey.count }

    /// All items in insertion order.
    package var entries: some Sequence<Entry> { slots.lazy.compactMap { $0 } }

    /// The item under a key.
    package subscript(key: CacheKey) -> Entry? {
        slotOfKey[key].flatMap { slots[$0] }
    }

    /// The items after a position, in insertion order.
    package func entries(after position: Int) -> some Sequence<Entry> {
        // Gaps have no position, so the search takes the next item's.
        var (low, high) = (0, slots.count)
        while low < high {
            let middle = (low + high) / 2
            var next = middle
            while next < high, slots[next] == nil { next += 1 }
            if next == high {
                high = middle
            } else if slots[next].map({ $0.position <= position }) ?? false {
                low = next + 1
            } else {
                high = middle
            }
        }
        return slots[low...].lazy.compactMap { $0 }
    }

    /// Whether there is an item under a key.
    package func contains(_ key: CacheKey) -> Bool {
        slotOfKey[key] != nil
    }

    /// Appends an item, or overwrites it in its place.
    package mutating func write(_ data: Data, key: CacheKey, at date: Date, dates: StorageDates? = nil) {
        if let slot = slotOfKey[key] {
            slots[slot]?.data = data
            if let dates { slots[slot]?.dates = dates } else { slots[slot]?.dates.updatedAt = date }
        } else {
            slotOfKey[key] = slots.count
            let dates = dates ?? StorageDates(createdAt: date, updatedAt: date)
            slots.append(Entry(key: key, position: nextPosition, data: data, dates: dates))
            nextPosition += 1
        }
    }

    /// Removes an item if there is one.
    package mutating func remove(_ key: CacheKey) {
        guard let slot = slotOfKey.removeValue(forKey: key) else { return }
        slots[slot] = nil
        if slots.count > 32, slots.count > slotOfKey.count * 2 { pack() }
    }

    /// Removes all items.
    package mutating func removeAll() {
        slots = []
        slotOfKey = [:]
    }

    /// Applies operations in order.
    package mutating func apply(_ operations: [StorageOperation], at date: Date) {
        for operation in operations {
            switch operation {
            case .write(let key, let data): write(data, key: key, at: date)
            case .remove(let key): remove(key)
            case .removeAll: removeAll()
            }
        }
    }

    private mutating func pack() {
        slots = slots.filter { $0 != nil }
        for (slot, entry) in slots.enumerated() {
            if let entry { slotOfKey[entry.key] = slot }
        }
    }
}
