import Bodega

/// The items of a store, with changes that are not written yet.
@MainActor
final class TransactionOverlay<Item: StorableItem> {

    /// Changes that hide what is below them.
    struct Layer {
        /// Whether nothing below is there any more.
        var isCleared = false
        /// The changed items; `nil` for those that were removed.
        var items: [CacheKey: Item?] = [:]
    }

    private let model: StoreModel<Item>
    private let key: (Item) -> CacheKey
    private var layer = Layer()
    private var steps: [StoreStep<Item>] = []

    init(on model: StoreModel<Item>, key: @escaping (Item) -> CacheKey) {
        self.model = model
        self.key = key
    }

    /// The item under a key.
    subscript(key: CacheKey) -> Item? {
        layer.items[key] ?? (layer.isCleared ? nil : model.contents[key])
    }

    /// All items, with some more steps.
    func contents(with more: [StoreStep<Item>]) -> OrderedItems<Item> {
        var contents = model.contents
        for step in steps + more {
            switch step {
            case .insert(let items): for item in items { contents.insert(item, under: key(item)) }
            case .removeItems(let items): contents.remove(items.map { key($0) })
            case .remove(let keys): contents.remove(keys)
            case .removeAll: contents.removeAll()
            }
        }
        return contents
    }

    /// Adds the changes of a transaction.
    func add(_ transaction: StoreTransaction<Item>) {
        steps += transaction.steps
        if transaction.own.isCleared {
            layer = transaction.own
        } else {
            layer.items.merge(transaction.own.items) { $1 }
        }
    }
}
