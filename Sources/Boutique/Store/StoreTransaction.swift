import Bodega

/// A group of operations on a store that take effect atomically; see ``Store/transaction(_:)``.
///
/// A transaction reads the items as they are when its turn comes, including its own changes.
@MainActor
public struct StoreTransaction<Item: StorableItem> {
    private let base: TransactionOverlay<Item>
    private let key: (Item) -> CacheKey
    private(set) var layer = TransactionOverlay<Item>.Layer()
    private(set) var steps: [StoreStep<Item>] = []

    init(on base: TransactionOverlay<Item>, key: @escaping (Item) -> CacheKey) {
        self.base = base
        self.key = key
    }

    // MARK: Reading

    /// The item with an identifier, or `nil` if there is none.
    ///
    /// - Parameter id: The identifier.
    public subscript(id: String) -> Item? { self[CacheKey(id)] }

    /// Returns whether an item exists.
    ///
    /// - Parameter id: The item's identifier.
    public func contains(id: String) -> Bool { self[id] != nil }

    /// All items in order, including the transaction's own changes.
    ///
    /// The array is built on each access, in time proportional to the number of items. Don't read the store's
    /// ``Store/items`` in a transaction: they lack the changes of earlier transactions of the same batch.
    public var items: [Item] { base.contents(with: steps).items }

    /// The number of items, including the transaction's own changes.
    public var count: Int { layer.count(on: base.count) }

    /// Whether there are no items, including the transaction's own changes.
    public var isEmpty: Bool { count == 0 }

    private subscript(key: CacheKey) -> Item? {
        layer.items[key] ?? (layer.isCleared ? nil : base[key])
    }

    // MARK: Writing

    /// Inserts an item, or replaces the item with the same identifier.
    ///
    /// - Parameter item: The item.
    public mutating func insert(_ item: Item) {
        insert([item])
    }

    /// Inserts items, or replaces the items with the same identifiers.
    ///
    /// - Parameter items: The items. If several have the same identifier, the last one wins, in the place of the first.
    public mutating func insert(_ items: [Item]) {
        for item in items { set(item, under: key(item)) }
        steps.append(.insert(items))
    }

    /// Removes an item if it exists.
    ///
    /// - Parameter item: The item. Only its identifier matters.
    public mutating func remove(_ item: Item) {
        remove([item])
    }

    /// Removes the items that exist.
    ///
    /// - Parameter items: The items. Only their identifiers matter.
    public mutating func remove(_ items: [Item]) {
        remove(items.map(key))
    }

    /// Removes an item if it exists.
    ///
    /// - Parameter id: The item's identifier.
    public mutating func remove(id: String) {
        remove([CacheKey(id)])
    }

    private mutating func remove(_ keys: [CacheKey]) {
        for key in keys { set(nil, under: key) }
        steps.append(.remove(keys))
    }

    private mutating func set(_ item: Item?, under key: CacheKey) {
        layer.balance += (item == nil ? 0 : 1) - (self[key] == nil ? 0 : 1)
        layer.items[key] = .some(item)
    }

    /// Removes all items.
    public mutating func removeAll() {
        layer = TransactionOverlay.Layer(isCleared: true)
        steps.append(.removeAll)
    }

    /// Updates an item.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: A closure that changes the item. It must not change the identifier.
    /// - Returns: The changed item, or `nil` if no item has this identifier.
    /// - Throws: The error of `change`, or `StorageError.Code.invalidArgument` if it changes the identifier.
    @discardableResult
    public mutating func update(id: String, _ change: (inout Item) throws -> Void) throws -> Item? {
        guard var item = self[id] else { return nil }
        try change(&item)
        guard key(item) == CacheKey(id) else {
            throw StorageError(
                .invalidArgument,
                "An update must not change the identifier. Remove the item and insert one with the new identifier.",
                key: CacheKey(id)
            )
        }
        insert(item)
        return item
    }
}

extension StoreTransaction: @MainActor Sequence {
    /// Iterates over ``items`` as they are at the beginning. The transaction can change items during the iteration.
    public func makeIterator() -> IndexingIterator<[Item]> { items.makeIterator() }
}
