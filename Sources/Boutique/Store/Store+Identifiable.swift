public import Bodega

extension Store where Item: Identifiable, Item.ID == String {

    /// Creates a store of items that are identified by `id`, and loads them in the background.
    ///
    /// To find out whether loading succeeds, read ``state`` or call ``itemsHaveLoaded()``.
    ///
    /// - Parameters:
    ///   - storage: The engine that keeps the items and nothing else.
    ///   - coder: The coder that encodes and decodes items; JSON by default.
    ///   - migration: The earlier shapes of the items and their conversions.
    public nonisolated convenience init(
        storage: any StorageEngine,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) {
        self.init(storage: storage, cacheIdentifier: \.id, coder: coder, migration: migration)
    }

    /// Creates a store of items that are identified by `id`, and loads them.
    ///
    /// - Parameters:
    ///   - storage: The engine that keeps the items and nothing else.
    ///   - coder: The coder that encodes and decodes items; JSON by default.
    ///   - migration: The earlier shapes of the items and their conversions.
    /// - Throws: The engine's error if the items can't be read.
    public convenience init(
        storage: any StorageEngine,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) async throws {
        try await self.init(storage: storage, cacheIdentifier: \.id, coder: coder, migration: migration)
    }
}

extension Store where Item: Identifiable, Item.ID: StoreIdentifier {

    /// Creates a store of items that are identified by `id`, and loads them in the background.
    ///
    /// The items are stored under `StoreIdentifier.identifierText`. To find out whether loading succeeds, read
    /// ``state`` or call ``itemsHaveLoaded()``.
    ///
    /// - Parameters:
    ///   - storage: The engine that keeps the items and nothing else.
    ///   - coder: The coder that encodes and decodes items; JSON by default.
    ///   - migration: The earlier shapes of the items and their conversions.
    public nonisolated convenience init(
        storage: any StorageEngine,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) {
        self.init(storage: storage, cacheIdentifier: \.id.identifierText, coder: coder, migration: migration)
    }

    /// Creates a store of items that are identified by `id`, and loads them.
    ///
    /// - Parameters:
    ///   - storage: The engine that keeps the items and nothing else.
    ///   - coder: The coder that encodes and decodes items; JSON by default.
    ///   - migration: The earlier shapes of the items and their conversions.
    /// - Throws: The engine's error if the items can't be read.
    public convenience init(
        storage: any StorageEngine,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) async throws {
        try await self.init(storage: storage, cacheIdentifier: \.id.identifierText, coder: coder, migration: migration)
    }

    /// The item with an identifier, or `nil` if there is none, in a store whose items are identified by `id`.
    ///
    /// - Parameter id: The identifier.
    public subscript(id: Item.ID) -> Item? { self[id.identifierText] }

    /// Returns whether an item exists, in a store whose items are identified by `id`.
    ///
    /// - Parameter id: The item's identifier.
    public func contains(id: Item.ID) -> Bool { contains(id: id.identifierText) }

    /// Updates an item, in a store whose items are identified by `id`; see ``update(id:_:)-(String,_)``.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: A closure that changes the item. It must not change the identifier.
    /// - Returns: The changed item, or `nil` if no item has this identifier.
    /// - Throws: The error of `change`, or a `StorageError`. In both cases nothing has changed.
    @discardableResult
    public func update(id: Item.ID, _ change: @escaping @MainActor (inout Item) throws -> Void) async throws -> Item? {
        try await update(id: id.identifierText, change)
    }

    /// Removes an item if it exists, in a store whose items are identified by `id`.
    ///
    /// - Parameter id: The item's identifier.
    /// - Throws: A `StorageError`, after which nothing has changed.
    public func remove(id: Item.ID) async throws { try await remove(id: id.identifierText) }

    /// Begins a chain of operations by removing an item, in a store whose items are identified by `id`.
    /// ``Operation/run()`` performs it.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - fileID: The caller's file.
    ///   - line: The caller's line.
    @_disfavoredOverload
    public func remove(id: Item.ID, fileID: StaticString = #fileID, line: UInt = #line) async throws -> Operation {
        try await remove(id: id.identifierText, fileID: fileID, line: line)
    }

    /// Returns the versions of an item, in a store whose items are identified by `id`; see ``values(id:)-(String)``.
    ///
    /// - Parameter id: The item's identifier.
    public func values(id: Item.ID) -> AsyncStream<Item?> { values(id: id.identifierText) }
}

extension Store.Operation where Item: Identifiable, Item.ID: StoreIdentifier {

    /// Adds the removal of an item, which need not exist, in a store whose items are identified by `id`.
    ///
    /// - Parameter id: The item's identifier.
    /// - Returns: The operation itself.
    public func remove(id: Item.ID) async throws -> Store.Operation { try await remove(id: id.identifierText) }
}

extension StoreTransaction where Item: Identifiable, Item.ID: StoreIdentifier {

    /// The item with an identifier, or `nil` if there is none, in a store whose items are identified by `id`.
    ///
    /// - Parameter id: The identifier.
    public subscript(id: Item.ID) -> Item? { self[id.identifierText] }

    /// Returns whether an item exists, in a store whose items are identified by `id`.
    ///
    /// - Parameter id: The item's identifier.
    public func contains(id: Item.ID) -> Bool { contains(id: id.identifierText) }

    /// Removes an item if it exists, in a store whose items are identified by `id`.
    ///
    /// - Parameter id: The item's identifier.
    public mutating func remove(id: Item.ID) { remove(id: id.identifierText) }

    /// Updates an item, in a store whose items are identified by `id`; see ``update(id:_:)-(String,_)``.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: A closure that changes the item. It must not change the identifier.
    /// - Returns: The changed item, or `nil` if no item has this identifier.
    /// - Throws: The error of `change`, or `StorageError.Code.invalidArgument` if it changes the identifier.
    @discardableResult
    public mutating func update(id: Item.ID, _ change: (inout Item) throws -> Void) throws -> Item? {
        try update(id: id.identifierText, change)
    }
}
