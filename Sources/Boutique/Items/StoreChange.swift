import Bodega

/// A step of an operation, as it is applied to the items after it has been written.
enum StoreChange<Item: StorableItem>: Sendable {
    /// Inserts or replaces items, each under its key. If several share a key, the last wins, in the place of the first.
    case insert(keys: [CacheKey], items: [Item])
    /// Removes the items under keys. Keys without an item are ignored.
    case remove([CacheKey])
    /// Removes all items.
    case removeAll

    /// Returns whether the step changes any item.
    func affects(_ contents: OrderedItems<Item>) -> Bool {
        switch self {
        case .insert(_, let items): !items.isEmpty
        case .remove(let keys): keys.contains(where: contents.contains)
        case .removeAll: contents.count > 0
        }
    }
}

extension OrderedItems where Item: Codable {

    /// Applies a change, and returns its event if the caller needs it.
    mutating func apply(_ change: StoreChange<Item>, reportsEvent: Bool) -> StoreEvent<Item>? {
        switch change {
        case .insert(let keys, let items):
            // The first items of an empty store need not be copied one by one.
            if count == 0, !reportsEvent, let contents = OrderedItems(items, ranks: Dictionary(ranking: keys)) {
                self = contents
                return nil
            }
            reserveCapacity(forMore: items.count)
            var event: StoreEvent<Item>.Insertion? = reportsEvent ? .init() : nil
            for (key, item) in zip(keys, items) {
                let isNew = insert(item, under: key)
                event?.add(item, key, isNew: isNew)
            }
            return event.map { StoreEvent(.insert, items: $0.items, insertedIDs: $0.inserted, updatedIDs: $0.updated) }
        case .remove(let keys):
            let removed = remove(keys)
            return reportsEvent ? .removal(of: removed) : nil
        case .removeAll:
            let event = reportsEvent ? StoreEvent.removal(of: items, keys: keysInOrder) : nil
            removeAll()
            return event
        }
    }
}

extension StoreEvent {

    /// The content of an insertion's event: each item once, in its last version.
    fileprivate struct Insertion {
        var items: [Item] = []
        var inserted: [String] = []
        var updated: [String] = []
        private var positions: [CacheKey: Int] = [:]

        mutating func add(_ item: Item, _ key: CacheKey, isNew: Bool) {
            if let position = positions[key] {
                items[position] = item
                return
            }
            positions[key] = items.count
            items.append(item)
            if isNew { inserted.append(key.rawValue) } else { updated.append(key.rawValue) }
        }
    }

    fileprivate static func removal(of removed: [(key: CacheKey, item: Item)]) -> StoreEvent {
        removal(of: removed.map { $0.item }, keys: removed.map { $0.key })
    }

    fileprivate static func removal(of items: [Item], keys: [CacheKey]) -> StoreEvent {
        StoreEvent(.remove, items: items, removedIDs: keys.map { $0.rawValue })
    }
}

extension StoreChange {
    /// The keys that the step names, or `nil` if it affects all items.
    var keys: [CacheKey]? {
        switch self {
        case .insert(let keys, _): keys
        case .remove(let keys): keys
        case .removeAll: nil
        }
    }
}

extension OrderedItems where Item: Codable {
    /// The maximum number of items that operations change.
    func changeCount(_ operations: [[StoreChange<Item>]]) -> Int {
        operations.reduce(0) { sum, changes in changes.reduce(sum) { $0 + ($1.keys?.count ?? count) } }
    }
}
