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
    /// Atomic read-modify-write. If another process, another store or synchronization has changed the item in the
    /// meantime, the store shows that, and the closure runs again. An engine without a log of changes does not notice
    /// it: then the update overwrites what others have changed.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: A closure that changes the item. It must not change the identifier. It is called again if
    ///     others have changed items in the meantime, or if a batch fails that several operations shared.
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
    /// What the closure reads is the state in which it writes: if another process, another store or synchronization has
    /// changed items in the meantime, the store shows that, and the closure runs again. An engine without a log of
    /// changes does not notice it: then the transaction overwrites what others have changed.
    ///
    /// - Parameter body: A closure that reads and changes the items as they are when the transaction's turn comes. It
    ///   is called again if others have changed items in the meantime, or if a batch fails that several transactions
    ///   shared. So it must not change anything else.
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
