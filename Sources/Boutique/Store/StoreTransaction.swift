import Bodega

/// Several operations on a store that take effect all together or not at all; see ``Store/transaction(_:)``.
///
/// It sees the items as they are when its turn has come, with its own changes.
@MainActor
public struct StoreTransaction<Item: StorableItem> {
    private let base: TransactionOverlay<Item>
    private let key: (Item) -> CacheKey
    private(set) var own = TransactionOverlay<Item>.Layer()
    private(set) var steps: [StoreStep<Item>] = []

    init(on base: TransactionOverlay<Item>, key: @escaping (Item) -> CacheKey) {
        self.base = base
        self.key = key
    }

    // MARK: Reading

    /// The item with an identifier, `nil` if there is none.
    ///
    /// - Parameter id: The identifier.
    public subscript(id: String) -> Item? { self[CacheKey(id)] }

    /// Tells whether there is an item.
    ///
    /// - Parameter id: The item's identifier.
    public func contains(id: String) -> Bool { self[id] != nil }

    /// All items, with the transaction's own changes, in order.
    ///
    /// It is made anew at each use, which takes the longer the more items there are. The store itself does not show
    /// what other transactions of the same batch have changed, so don't read it here.
    public var items: [Item] { base.contents(with: steps).items }

    /// The number of items, with the transaction's own changes. It takes as long as ``items``.
    public var count: Int { items.count }

    /// Whether there are no items. It takes as long as ``items``.
    public var isEmpty: Bool { items.isEmpty }

    private subscript(key: CacheKey) -> Item? {
        own.items[key] ?? (own.isCleared ? nil : base[key])
    }

    // MARK: Changing

    /// Inserts an item, or replaces the one with its identifier.
    ///
    /// - Parameter item: The item.
    public mutating func insert(_ item: Item) {
        insert([item])
    }

    /// Inserts items, or replaces those with their identifiers.
    ///
    /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
    public mutating func insert(_ items: [Item]) {
        for item in items { own.items[key(item)] = .some(item) }
        steps.append(.insert(items))
    }

    /// Removes an item. It need not be there.
    ///
    /// - Parameter item: The item; only its identifier counts.
    public mutating func remove(_ item: Item) {
        remove([item])
    }

    /// Removes items. They need not be there.
    ///
    /// - Parameter items: The items; only their identifiers count.
    public mutating func remove(_ items: [Item]) {
        remove(items.map(key))
    }

    /// Removes an item. It need not be there.
    ///
    /// - Parameter id: The item's identifier.
    public mutating func remove(id: String) {
        remove([CacheKey(id)])
    }

    private mutating func remove(_ keys: [CacheKey]) {
        for key in keys { own.items[key] = .some(nil) }
        steps.append(.remove(keys))
    }

    /// Removes all items.
    public mutating func removeAll() {
        own = TransactionOverlay.Layer(isCleared: true)
        steps.append(.removeAll)
    }

    /// Changes an item.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: Changes it, all but the identifier.
    /// - Returns: The changed item, `nil` if there is none with this identifier.
    /// - Throws: What `change` throws, and `StorageError.Code.invalidArgument` if it changes the identifier.
    @discardableResult
    public mutating func update(_ id: String, _ change: (inout Item) throws -> Void) throws -> Item? {
        guard var item = self[id] else { return nil }
        try change(&item)
        guard key(item) == CacheKey(id) else {
            throw StorageError(
                .invalidArgument,
                "An update must not change the identifier. Remove the item and insert the other one instead.",
                key: CacheKey(id)
            )
        }
        insert(item)
        return item
    }
}
