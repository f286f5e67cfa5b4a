import Bodega

/// The items of a store with the unwritten changes of transactions applied.
@MainActor
final class TransactionOverlay<Item: StorableItem> {

    /// Changes that hide the items of the store below them.
    struct Layer {
        /// Whether the changes have removed all items of the store.
        var isCleared = false
        /// The changed items, with `nil` for removed ones.
        var items: [CacheKey: Item?] = [:]
        /// How many more items there are because of the changes; all items, if they have removed those below.
        var balance = 0

        /// The number of items.
        ///
        /// - Parameter count: The number of those below.
        func count(on count: Int) -> Int { isCleared ? balance : count + balance }
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

    /// The number of items.
    var count: Int { layer.count(on: model.contents.count) }

    /// All items with further steps applied.
    func contents(with more: [StoreStep<Item>]) -> OrderedItems<Item> {
        var contents = model.contents
        contents.forgetLookups()
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
        if transaction.layer.isCleared {
            layer = transaction.layer
        } else {
            layer.items.merge(transaction.layer.items) { $1 }
            layer.balance += transaction.layer.balance
        }
    }
}
