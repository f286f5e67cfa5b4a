public import Bodega
public import Foundation

extension Store where Item: Identifiable, Item.ID == String {

    /// Creates a store of items that their `id` identifies, and loads them in the background.
    ///
    /// Whether that succeeds is seen in ``state``, and ``itemsHaveLoaded()`` tells.
    ///
    /// - Parameters:
    ///   - storage: Where the items are kept, and nothing else.
    ///   - coder: How an item becomes bytes; JSON by default.
    ///   - migration: The earlier shapes of the items, and how to convert them.
    public nonisolated convenience init(
        storage: any StorageEngine,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) {
        self.init(storage: storage, cacheIdentifier: \.id, coder: coder, migration: migration)
    }

    /// Creates a store of items that their `id` identifies, and loads them.
    ///
    /// - Parameters:
    ///   - storage: Where the items are kept, and nothing else.
    ///   - coder: How an item becomes bytes; JSON by default.
    ///   - migration: The earlier shapes of the items, and how to convert them.
    /// - Throws: What the engine throws if the items can't be read.
    public nonisolated convenience init(
        storage: any StorageEngine,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) async throws {
        try await self.init(storage: storage, cacheIdentifier: \.id, coder: coder, migration: migration)
    }
}

extension Store where Item: Identifiable, Item.ID == UUID {

    /// Creates a store of items that their `id` identifies, and loads them in the background.
    ///
    /// Where an identifier is text, it is the UUID in its usual form with upper-case digits. Whether loading succeeds is
    /// seen in ``state``, and ``itemsHaveLoaded()`` tells.
    ///
    /// - Parameters:
    ///   - storage: Where the items are kept, and nothing else.
    ///   - coder: How an item becomes bytes; JSON by default.
    ///   - migration: The earlier shapes of the items, and how to convert them.
    public nonisolated convenience init(
        storage: any StorageEngine,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) {
        self.init(storage: storage, cacheIdentifier: \.id.uuidString, coder: coder, migration: migration)
    }

    /// Creates a store of items that their `id` identifies, and loads them.
    ///
    /// - Parameters:
    ///   - storage: Where the items are kept, and nothing else.
    ///   - coder: How an item becomes bytes; JSON by default.
    ///   - migration: The earlier shapes of the items, and how to convert them.
    /// - Throws: What the engine throws if the items can't be read.
    public nonisolated convenience init(
        storage: any StorageEngine,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) async throws {
        try await self.init(storage: storage, cacheIdentifier: \.id.uuidString, coder: coder, migration: migration)
    }

    /// The item with an identifier, `nil` if there is none, in a store whose identifier is the items' `id`.
    ///
    /// - Parameter id: The identifier.
    public subscript(id: UUID) -> Item? { self[id.uuidString] }

    /// Tells whether there is an item, in a store whose identifier is the items' `id`.
    ///
    /// - Parameter id: The item's identifier.
    public func contains(id: UUID) -> Bool { contains(id: id.uuidString) }

    /// Changes an item, in a store whose identifier is the items' `id`; see ``update(_:_:)-(String,_)``.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: Changes it, all but the identifier.
    /// - Returns: The changed item, `nil` if there is none with this identifier.
    /// - Throws: What `change` throws, or a `StorageError`. Nothing was changed then.
    @discardableResult
    public func update(_ id: UUID, _ change: @escaping @MainActor (inout Item) throws -> Void) async throws -> Item? {
        try await update(id.uuidString, change)
    }

    /// Removes an item, in a store whose identifier is the items' `id`. It need not be there.
    ///
    /// - Parameter id: The item's identifier.
    /// - Throws: A `StorageError`. Nothing was changed then.
    public func remove(id: UUID) async throws { try await remove(id: id.uuidString) }

    /// The versions of an item, in a store whose identifier is the items' `id`; see ``values(id:)-(String)``.
    ///
    /// - Parameter id: The item's identifier.
    public func values(id: UUID) -> AsyncStream<Item?> { values(id: id.uuidString) }
}

extension Store.Operation where Item: Identifiable, Item.ID == UUID {

    /// Then removes an item, in a store whose identifier is the items' `id`. It need not be there.
    ///
    /// - Parameter id: The item's identifier.
    /// - Returns: The operation itself.
    @discardableResult
    public func remove(id: UUID) async throws -> Store.Operation { try await remove(id: id.uuidString) }
}

extension StoreTransaction where Item: Identifiable, Item.ID == UUID {

    /// The item with an identifier, `nil` if there is none, in a store whose identifier is the items' `id`.
    ///
    /// - Parameter id: The identifier.
    public subscript(id: UUID) -> Item? { self[id.uuidString] }

    /// Tells whether there is an item, in a store whose identifier is the items' `id`.
    ///
    /// - Parameter id: The item's identifier.
    public func contains(id: UUID) -> Bool { contains(id: id.uuidString) }

    /// Removes an item, in a store whose identifier is the items' `id`. It need not be there.
    ///
    /// - Parameter id: The item's identifier.
    public mutating func remove(id: UUID) { remove(id: id.uuidString) }

    /// Changes an item, in a store whose identifier is the items' `id`; see ``update(_:_:)-(String,_)``.
    ///
    /// - Parameters:
    ///   - id: The item's identifier.
    ///   - change: Changes it, all but the identifier.
    /// - Returns: The changed item, `nil` if there is none with this identifier.
    /// - Throws: What `change` throws, and `StorageError.Code.invalidArgument` if it changes the identifier.
    @discardableResult
    public mutating func update(_ id: UUID, _ change: (inout Item) throws -> Void) throws -> Item? {
        try update(id.uuidString, change)
    }
}
