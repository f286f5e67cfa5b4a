import Bodega

/// The items of a store, in order, with the position of each key.
///
/// Each item gets a rank when it is added. Ranks only grow, so they are in the order of the items, and the position of
/// an item follows from its rank. A removal leaves a gap between two ranks and does not touch the dictionary entries of
/// later items. As long as no item has been removed, the position is the distance from the first rank. After `r`
/// removals it is at most `r` lower, and a binary search finds it. So insertion and lookup take the same time at any
/// size, and a removal only moves memory.
struct OrderedItems<Item: Sendable>: Sendable {

    /// The items, in insertion order.
    private(set) var items: [Item] = []
    /// The rank of each item, ascending.
    private var ranks: [Int] = []
    private var rankOfKey: [CacheKey: Int] = [:]
    private var nextRank = 0
    /// The lookups that were used, which each change keeps up to date.
    private var lookups: [ItemLookup<Item>.ID: ItemLookup<Item>] = [:]

    /// Creates an empty collection.
    init() {}

    /// Creates a collection of many items with the ranks of their keys; `nil` if a key occurs twice.
    init?(_ items: [Item], ranks rankOfKey: [CacheKey: Int]) {
        guard rankOfKey.count == items.count else { return nil }
        self.items = items
        self.rankOfKey = rankOfKey
        ranks = Array(items.indices)
        nextRank = items.count
    }

    /// The number of items.
    var count: Int { items.count }

    /// Whether a change of a number of items is prepared on a copy, off the main actor, instead of being made in place.
    ///
    /// A copy costs time in proportion to all items, but no time of the main actor.
    func isLarge(_ change: Int) -> Bool { change > max(4_096, min(count / 64, 16_384)) }

    /// The keys of the items, in the order of the items.
    var keysInOrder: [CacheKey] {
        guard let any = rankOfKey.first?.key else { return [] }
        var keys = Array(repeating: any, count: count)
        for (key, rank) in rankOfKey { keys[position(ofRank: rank)] = key }
        return keys
    }

    /// Reserves space for a number of items.
    mutating func reserveCapacity(_ count: Int) {
        items.reserveCapacity(count)
        ranks.reserveCapacity(count)
        rankOfKey.reserveCapacity(count)
    }

    /// Reserves space for a number of additional items.
    mutating func reserveCapacity(forMore added: Int) {
        // Reserving the exact space for each of many small additions would reallocate each time.
        if added > count { reserveCapacity(count + added) }
    }

    /// The item under a key.
    subscript(key: CacheKey) -> Item? {
        position(of: key).map { items[$0] }
    }

    /// Returns whether there is an item under a key.
    func contains(_ key: CacheKey) -> Bool {
        rankOfKey[key] != nil
    }

    /// The items by which a property is found to have a value, in insertion order.
    ///
    /// The first call for a property reads it of all items. After that, a call takes time for its result only.
    mutating func items(with value: AnyHashable, in property: ItemLookup<Item>.Property) -> [Item] {
        if lookups[property.id] == nil { lookups[property.id] = ItemLookup(property, items, ranks: ranks) }
        return lookups[property.id]?.ranks(of: value).map { items[position(ofRank: $0)] } ?? []
    }

    /// Forgets the lookups, for a copy that is to be changed.
    mutating func forgetLookups() { lookups = [:] }

    /// Adds an item at the end, or replaces the item under its key in place.
    ///
    /// - Returns: Whether the key is new.
    @discardableResult
    mutating func insert(_ item: consuming Item, under key: CacheKey) -> Bool {
        let rank = Self.value(at: &rankOfKey[key, default: nextRank])
        if rank != nextRank {
            let position = position(ofRank: rank)
            for id in lookups.keys { lookups[id]?.replace(items[position], by: item, rank) }
            items[position] = item
            return false
        }
        for id in lookups.keys { lookups[id]?.add(item, rank) }
        ranks.append(rank)
        items.append(item)
        nextRank += 1
        return true
    }

    /// Removes items, and returns them in the order of the keys. Keys without an item are ignored.
    @discardableResult
    mutating func remove(_ keys: [CacheKey]) -> [(key: CacheKey, item: Item)] {
        var removed: [(key: CacheKey, item: Item)] = []
        var positions: [Int] = []
        for key in keys {
            guard let rank = rankOfKey.removeValue(forKey: key) else { continue }
            let position = position(ofRank: rank)
            positions.append(position)
            removed.append((key, items[position]))
            for id in lookups.keys { lookups[id]?.remove(items[position], rank) }
        }
        if positions.count == 1 {
            items.remove(at: positions[0])
            ranks.remove(at: positions[0])
        } else if !positions.isEmpty {
            positions.sort()
            items.removeElements(at: positions)
            ranks.removeElements(at: positions)
        }
        return removed
    }

    /// Removes all items.
    mutating func removeAll() {
        self = OrderedItems()
    }

    /// Reads a dictionary entry that the access creates if it is missing. So the key is hashed only once.
    private static func value(at entry: inout Int) -> Int { entry }

    private func position(of key: CacheKey) -> Int? {
        rankOfKey[key].map(position(ofRank:))
    }

    private func position(ofRank rank: Int) -> Int {
        // Each rank is given once, so the position is at most the distance from the first rank, and lower by the number
        // of ranks that are missing in between.
        var high = min(rank - ranks[0], ranks.count - 1)
        let missing = ranks[ranks.count - 1] - ranks[0] + 1 - ranks.count
        // If none is missing, skip reading the ranks, which with many items waits for memory.
        if missing == 0 || ranks[high] == rank { return high }
        var low = max(0, rank - ranks[0] - missing)
        while low < high {
            let middle = (low + high) / 2
            if ranks[middle] < rank { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension [CacheKey: Int] {
    /// Creates the ranks of the first items of a collection. It is not a member of ``OrderedItems``, because there it
    /// would be unspecialized generic code, which takes three times as long.
    init(ranking keys: some Collection<CacheKey>) {
        self.init(minimumCapacity: keys.count)
        for (rank, key) in keys.enumerated() { self[key] = rank }
    }
}

extension Array {
    /// Removes the elements at ascending positions, in one pass from the first of them to the end.
    fileprivate mutating func removeElements(at positions: [Int]) {
        var next = positions.startIndex
        var target = positions[0]
        for source in positions[0]..<count {
            if next < positions.endIndex, positions[next] == source {
                next += 1
            } else {
                swapAt(target, source)
                target += 1
            }
        }
        removeSubrange(target...)
    }
}
