import Bodega

/// One step of an operation, as it is applied to the items after it was written.
enum StoreChange<Item: StorableItem>: Sendable {
    /// Inserts or replaces items. No key occurs twice.
    case insert([(key: CacheKey, item: Item)])
    /// Removes the items under keys, as far as there are any.
    case remove([CacheKey])
    /// Removes all items.
    case removeAll

    /// Whether it changes anything.
    func concerns(_ contents: StoreContents<Item>) -> Bool {
        switch self {
        case .insert(let items): !items.isEmpty
        case .remove(let keys): keys.contains(where: contents.contains)
        case .removeAll: contents.count > 0
        }
    }
}

extension StoreContents where Item: Codable {

    /// Applies a change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - isTold: Whether anybody wants to know what happened.
    /// - Returns: What happened.
    mutating func apply(_ change: StoreChange<Item>, isTold: Bool) -> StoreEvent<Item>? {
        switch change {
        case .insert(let items):
            var inserted: [String] = []
            var updated: [String] = []
            for (key, item) in items {
                let isNew = insert(item, under: key)
                guard isTold else { continue }
                if isNew { inserted.append(key.rawValue) } else { updated.append(key.rawValue) }
            }
            guard isTold else { return nil }
            return StoreEvent(.insert, items: items.map { $0.item }, inserted: inserted, updated: updated)
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
    fileprivate static func removal(of removed: [(key: CacheKey, item: Item)]) -> StoreEvent {
        removal(of: removed.map(\.item), keys: removed.map(\.key))
    }

    fileprivate static func removal(of items: [Item], keys: [CacheKey]) -> StoreEvent {
        StoreEvent(.remove, items: items, removed: keys.map(\.rawValue))
    }
}

/// The keys of the items that a change concerns.
enum ChangedKeys {
    case these([CacheKey])
    case any

    init(_ changes: [StoreChange<some StorableItem>]) {
        var keys: [CacheKey] = []
        for change in changes {
            guard let count = change.keyCount, keys.count + count <= ItemObservation.groups else {
                self = .any
                return
            }
            switch change {
            case .insert(let items): keys += items.lazy.map { $0.key }
            case .remove(let removed): keys += removed
            case .removeAll: break
            }
        }
        self = .these(keys)
    }
}

extension StoreChange {
    /// The number of keys that it names, `nil` if it concerns all items.
    fileprivate var keyCount: Int? {
        switch self {
        case .insert(let items): items.count
        case .remove(let keys): keys.count
        case .removeAll: nil
        }
    }
}
