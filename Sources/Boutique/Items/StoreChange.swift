import Bodega

/// One step of an operation, as it is applied to the items after it was written.
enum StoreChange<Item: StorableItem>: Sendable {
    /// Inserts or replaces items, each with its key. Of several with one key the last wins, at the place of the first.
    case insert(keys: [CacheKey], items: [Item])
    /// Removes the items under keys, as far as there are any.
    case remove([CacheKey])
    /// Removes all items.
    case removeAll

    /// Whether it changes anything.
    func concerns(_ contents: OrderedItems<Item>) -> Bool {
        switch self {
        case .insert(_, let items): !items.isEmpty
        case .remove(let keys): keys.contains(where: contents.contains)
        case .removeAll: contents.count > 0
        }
    }
}

extension OrderedItems where Item: Codable {

    /// Applies a change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - isTold: Whether anybody wants to know what happened.
    /// - Returns: What happened.
    mutating func apply(_ change: StoreChange<Item>, isTold: Bool) -> StoreEvent<Item>? {
        switch change {
        case .insert(let keys, let items):
            // The items that an empty store begins with need not be copied one by one.
            if count == 0, !isTold, let contents = OrderedItems(items, ranks: Dictionary(ranking: keys)) {
                self = contents
                return nil
            }
            reserveCapacity(forMore: items.count)
            var told: StoreEvent<Item>.Insertion? = isTold ? .init() : nil
            for (key, item) in zip(keys, items) {
                let isNew = insert(item, under: key)
                told?.add(item, key, isNew: isNew)
            }
            return told.map { StoreEvent(.insert, items: $0.items, inserted: $0.inserted, updated: $0.updated) }
        case .remove(let keys):
            let removed = remove(keys)
            return isTold ? .removal(of: removed) : nil
        case .removeAll:
            let event = isTold ? StoreEvent.removal(of: items, keys: keysInOrder) : nil
            removeAll()
            return event
        }
    }
}

extension StoreEvent {

    /// What is told of inserted items: each once, as it is in the end.
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
        StoreEvent(.remove, items: items, removed: keys.map { $0.rawValue })
    }
}

extension StoreChange {
    /// The keys that it names, `nil` if it concerns all items.
    var keys: [CacheKey]? {
        switch self {
        case .insert(let keys, _): keys
        case .remove(let keys): keys
        case .removeAll: nil
        }
    }
}
