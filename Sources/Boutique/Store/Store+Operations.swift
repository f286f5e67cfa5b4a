import Bodega

extension Store {

    // MARK: Inserting

    /// Inserts an item, or replaces the one with its identifier.
    ///
    /// - Parameter item: The item.
    /// - Throws: A `StorageError` if it could not be encoded or written. Nothing was changed then.
    public func insert(_ item: Item) async throws {
        try await pipeline.perform(.steps([.insert([item])]))
    }

    /// Inserts items, or replaces those with their identifiers.
    ///
    /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
    /// - Throws: A `StorageError` if one could not be encoded or they could not be written. Nothing was changed then.
    public func insert(_ items: [Item]) async throws {
        try await pipeline.perform(.steps([.insert(items)]))
    }

    /// Inserts an item, or replaces the one with its identifier; the same as ``insert(_:)-(Item)``.
    ///
    /// - Parameter item: The item.
    /// - Throws: A `StorageError` if it could not be encoded or written. Nothing was changed then.
    public func add(_ item: Item) async throws {
        try await insert(item)
    }

    /// Inserts items, or replaces those with their identifiers; the same as ``insert(_:)-([Item])``.
    ///
    /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
    /// - Throws: A `StorageError` if one could not be encoded or they could not be written. Nothing was changed then.
    public func add(_ items: [Item]) async throws {
        try await insert(items)
    }

    // MARK: Removing

    /// Removes an item. It need not be there.
    ///
    /// - Parameter item: The item; only its identifier counts.
    /// - Throws: A `StorageError`. Nothing was changed then.
    public func remove(_ item: Item) async throws {
        try await pipeline.perform(.steps([.removeItems([item])]))
    }

    /// Removes items. They need not be there.
    ///
    /// - Parameter items: The items; only their identifiers count.
    /// - Throws: A `StorageError`. Nothing was changed then.
    public func remove(_ items: [Item]) async throws {
        try await pipeline.perform(.steps([.removeItems(items)]))
    }

    /// Removes an item. It need not be there.
    ///
    /// - Parameter id: The item's identifier.
    /// - Throws: A `StorageError`. Nothing was changed then.
    public func remove(id: String) async throws {
        try await pipeline.perform(.steps([.remove([CacheKey(id)])]))
    }

    /// Removes all items.
    ///
    /// Records that could not be decoded stay; ``removeUndecodable(_:)`` removes them.
    ///
    /// - Throws: A `StorageError`. Nothing was changed then.
    public func removeAll() async throws {
        try await pipeline.perform(.steps([.removeAll]))
    }

    // MARK: Changing

    /// Changes an item, so that no other operation comes between reading and writing it.
    ///
    /// ```swift
    /// try await store.update("milk") { $0.isBought = true }
    /// ```
    ///
    /// It changes the item that the store shows. Another process, or another store, may have changed what is stored
    /// meanwhile; that is replaced then.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: Changes the item, all but its identifier. It may be called again, when a batch that several operations
    ///     shared has failed and each is tried by itself.
    /// - Returns: The changed item, `nil` if there is none with this identifier.
    /// - Throws: What `change` throws; `StorageError.Code.invalidArgument` if it changes the identifier; or a
    ///   `StorageError` if the item could not be encoded or written. Nothing was changed then.
    @discardableResult
    public func update(_ id: String, _ change: @escaping @MainActor (inout Item) throws -> Void) async throws -> Item? {
        try await transaction { try $0.update(id, change) }
    }

    /// Carries out several operations, all or nothing, so that no other comes between them.
    ///
    /// ```swift
    /// try await store.transaction { accounts in
    ///     try accounts.update("savings") { $0.balance -= 100 }
    ///     try accounts.update("checking") { $0.balance += 100 }
    /// }
    /// ```
    ///
    /// No other operation of this store comes between them. What is read is what the store shows: another process, or
    /// another store, may have changed what is stored meanwhile, and what is written then replaces that.
    ///
    /// - Parameter body: Reads and changes the items, as they are when its turn has come. It may be called again, when a
    ///   batch that several transactions shared has failed and each is tried by itself.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or a `StorageError` if an item could not be encoded or the changes could not be
    ///   written. Nothing was changed then.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @escaping @MainActor (inout StoreTransaction<Item>) throws -> Result
    ) async throws -> Result {
        let returned = Returned<Result>()
        try await pipeline.perform(.transaction { returned.value = try body(&$0) })
        guard let value = returned.value else { preconditionFailure("A transaction has succeeded but did not run.") }
        return value
    }
}

/// What a transaction's body returned when it last ran.
@MainActor
private final class Returned<Value> {
    var value: Value?
}
