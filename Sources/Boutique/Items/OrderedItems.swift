import Bodega

/// The items of a store, in order, and where each of them is.
///
/// Each item gets a rank when it is added, a number that only grows. Ranks are in the order of the items, so an item's
/// position follows from its rank, and a removal need not touch the entries of the items behind it: only the gap that it
/// leaves between two ranks. As long as nothing was removed, the position is the rank's distance from the first rank;
/// after `r` removals it lies at most `r` below that, where a binary search finds it. So adding and looking up cost the
/// same at any size, and a removal moves memory and does nothing more.
struct OrderedItems<Item: Sendable>: Sendable {

    /// The items, in insertion order.
    private(set) var items: [Item] = []
    /// The rank of each item, ascending.
    private var ranks: [Int] = []
    private var rankOfKey: [CacheKey: Int] = [:]
    private var nextRank = 0

    /// Creates contents without items.
    init() {}

    /// Creates contents of many items at once.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - ranks: The ranks of their keys. The result is `nil` if a key occurs twice.
    init?(_ items: [Item], ranks rankOfKey: [CacheKey: Int]) {
        guard rankOfKey.count == items.count else { return nil }
        self.items = items
        self.rankOfKey = rankOfKey
        ranks = Array(items.indices)
        nextRank = items.count
    }

    /// The number of items.
    var count: Int { items.count }

    /// The keys of the items, in the order of the items.
    var keysInOrder: [CacheKey] {
        guard let any = rankOfKey.first?.key else { return [] }
        var keys = Array(repeating: any, count: count)
        for (key, rank) in rankOfKey { keys[position(ofRank: rank)] = key }
        return keys
    }

    /// Makes room, when many items are about to be added.
    mutating func reserveCapacity(_ count: Int) {
        items.reserveCapacity(count)
        ranks.reserveCapacity(count)
        rankOfKey.reserveCapacity(count)
    }

    /// Makes room, when many items are about to be added to those that are there.
    mutating func reserveCapacity(forMore added: Int) {
        // Room for exactly so many would be made anew at each of many small additions.
        if added > count { reserveCapacity(count + added) }
    }

    /// The item under a key.
    subscript(key: CacheKey) -> Item? {
        position(of: key).map { items[$0] }
    }

    /// Whether there is an item under a key.
    func contains(_ key: CacheKey) -> Bool {
        rankOfKey[key] != nil
    }

    /// Adds an item at the end, or replaces it at its place.
    ///
    /// - Returns: Whether it is new.
    @discardableResult
    mutating func insert(_ item: consuming Item, under key: CacheKey) -> Bool {
        let rank = Self.value(at: &rankOfKey[key, default: nextRank])
        if rank != nextRank {
            items[position(ofRank: rank)] = item
            return false
        }
        ranks.append(rank)
        items.append(item)
        nextRank += 1
        return true
    }

    /// Removes items.
    ///
    /// - Parameter keys: Their keys; those of no item are skipped.
    /// - Returns: The removed items with their keys, in the order of the keys.
    @discardableResult
    mutating func remove(_ keys: [CacheKey]) -> [(key: CacheKey, item: Item)] {
        var removed: [(key: CacheKey, item: Item)] = []
        var positions: [Int] = []
        for key in keys {
            guard let rank = rankOfKey.removeValue(forKey: key) else { continue }
            let position = position(ofRank: rank)
            positions.append(position)
            removed.append((key, items[position]))
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

    /// Reads an entry that is passed in order to be made if it is missing, which hashes its key once only.
    private static func value(at entry: inout Int) -> Int { entry }

    private func position(of key: CacheKey) -> Int? {
        rankOfKey[key].map(position(ofRank:))
    }

    private func position(ofRank rank: Int) -> Int {
        // No rank is missing before the first one, and none is given twice: the position is at most `highest`, and lower
        // by the number of ranks that are missing in between.
        var high = min(rank - ranks[0], ranks.count - 1)
        let missing = ranks[ranks.count - 1] - ranks[0] + 1 - ranks.count
        // Where none is missing, the ranks need not be read, which at many items means to wait for the memory.
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
    /// The ranks of items that are the first ones. Not a member of the contents: there it would be compiled for whatever
    /// items, which takes three times as long to run.
    ///
    /// - Parameter keys: The keys of the items, in their order.
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
