import Bodega

extension Store {

    // MARK: Inserting

    /// Inserts an item, or replaces the item with the same identifier.
    ///
    /// - Parameter item: The item.
    /// - Throws: A `StorageError` if the item could not be encoded or written. In this case nothing has changed.
    public func insert(_ item: Item) async throws {
        try await pipeline.perform(.steps([.insert([item])]))
    }

    /// Inserts items, or replaces the items with the same identifiers.
    ///
    /// - Parameter items: The items. If several have the same identifier, the last one wins, in the place of the first.
    /// - Throws: A `StorageError` if an item could not be encoded or written. In this case nothing has changed.
    public func insert(_ items: [Item]) async throws {
        try await pipeline.perform(.steps([.insert(items)]))
    }

    /// Inserts an item, or replaces the item with the same identifier. Equivalent to `insert(_:)`.
    ///
    /// - Parameter item: The item.
    /// - Throws: A `StorageError` if the item could not be encoded or written. In this case nothing has changed.
    public func add(_ item: Item) async throws {
        try await insert(item)
    }

    /// Inserts items, or replaces the items with the same identifiers. Equivalent to `insert(_:)`.
    ///
    /// - Parameter items: The items. If several have the same identifier, the last one wins, in the place of the first.
    /// - Throws: A `StorageError` if an item could not be encoded or written. In this case nothing has changed.
    public func add(_ items: [Item]) async throws {
        try await insert(items)
    }

    // MARK: Removing

    /// Removes an item if it exists.
    ///
    /// - Parameter item: The item. Only its identifier matters.
    /// - Throws: A `StorageError`, after which nothing has changed.
    public func remove(_ item: Item) async throws {
        try await pipeline.perform(.steps([.removeItems([item])]))
    }

    /// Removes the items that exist.
    ///
    /// - Parameter items: The items. Only their identifiers matter.
    /// - Throws: A `StorageError`, after which nothing has changed.
    public func remove(_ items: [Item]) async throws {
        try await pipeline.perform(.steps([.removeItems(items)]))
    }

    /// Removes an item if it exists.
    ///
    /// - Parameter id: The item's identifier.
    /// - Throws: A `StorageError`, after which nothing has changed.
    public func remove(id: String) async throws {
        try await pipeline.perform(.steps([.remove([CacheKey(id)])]))
    }

    /// Removes all items.
    ///
    /// Records that could not be decoded stay stored. ``removeUndecodable(_:)`` removes them.
    ///
    /// - Throws: A `StorageError`, after which nothing has changed.
    public func removeAll() async throws {
        try await pipeline.perform(.steps([.removeAll]))
    }

    // MARK: Updating

    /// Updates an item in one atomic read-modify-write.
    ///
    /// ```swift
    /// try await store.update(id: "milk") { $0.isBought = true }
    /// ```
    ///
    /// Atomic read-modify-write within this store. The update starts from the item in ``items``. If another process or
    /// store has changed the stored item in the meantime, the update overwrites that change.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: A closure that changes the item. It must not change the identifier. It is called again if a batch
    ///     that several operations shared fails and the store retries each of them on its own.
    /// - Returns: The changed item, or `nil` if no item has this identifier.
    /// - Throws: The error of `change`; `StorageError.Code.invalidArgument` if it changes the identifier; or a
    ///   `StorageError` if the item could not be encoded or written. In each case nothing has changed.
    @discardableResult
    public func update(id: String, _ change: @escaping @MainActor (inout Item) throws -> Void) async throws -> Item? {
        try await transaction { try $0.update(id: id, change) }
    }

    /// Performs several operations as one atomic operation.
    ///
    /// ```swift
    /// try await store.transaction { accounts in
    ///     try accounts.update(id: "savings") { $0.balance -= 100 }
    ///     try accounts.update(id: "checking") { $0.balance += 100 }
    /// }
    /// ```
    ///
    /// No other operation of this store comes between them. The transaction reads the items of this store. If another
    /// process or another store has changed the stored items in the meantime, the transaction overwrites those changes.
    ///
    /// - Parameter body: A closure that reads and changes the items as they are when the transaction's turn comes. It
    ///   is called again if a batch that several transactions shared fails and the store retries each on its own.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, or a `StorageError` if an item could not be encoded or the changes could not be
    ///   written. In each case nothing has changed.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @escaping @MainActor (inout StoreTransaction<Item>) throws -> Result
    ) async throws -> Result {
        let result = TransactionResult<Result>()
        try await pipeline.perform(.transaction { result.value = try body(&$0) })
        guard let value = result.value else {
            preconditionFailure("The transaction succeeded, but its body did not run.")
        }
        return value
    }
}

/// The result of a transaction's body when it last ran.
@MainActor
private final class TransactionResult<Value> {
    var value: Value?
}
