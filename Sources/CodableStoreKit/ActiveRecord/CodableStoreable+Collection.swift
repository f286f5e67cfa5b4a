extension CodableStoreable {

    /// Finds an object, as ``CodableStore/get(identifier:)``.
    ///
    /// - Parameters:
    ///   - identifier: What identifies the object.
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Throws: A ``Bodega/StorageError``, with ``Bodega/StorageError/Code/notFound`` if there is none.
    public static func get(
        identifier: ID,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self {
        try CodableStore(container: container, engine: engine).get(identifier: identifier)
    }

    /// All objects, as ``CodableStore/getCollection()``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Throws: A ``Bodega/StorageError``.
    public static func getCollection(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> [Self] {
        try CodableStore(container: container, engine: engine).getCollection()
    }

    /// The objects that meet a condition, as ``CodableStore/get(where:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Throws: A ``Bodega/StorageError``, or what the predicate throws.
    public static func get(
        where predicate: (Self) throws -> Bool,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> [Self] {
        try CodableStore(container: container, engine: engine).get(where: predicate)
    }

    /// The first object that meets a condition, as ``CodableStore/first(where:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Throws: A ``Bodega/StorageError``, or what the predicate throws.
    public static func first(
        where predicate: (Self) throws -> Bool,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self? {
        try CodableStore(container: container, engine: engine).first(where: predicate)
    }

    /// Whether an object is stored, as ``CodableStore/exists(identifier:)``.
    ///
    /// - Parameters:
    ///   - identifier: What identifies the object.
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    public static func exists(
        identifier: ID,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) -> Bool {
        CodableStore(container: container, engine: engine).exists(identifier: identifier)
    }

    /// Deletes an object, as ``CodableStore/delete(identifier:)``.
    ///
    /// - Parameters:
    ///   - identifier: What identifies the object.
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Returns: The object as it was stored.
    /// - Throws: A ``Bodega/StorageError``.
    @discardableResult
    public static func delete(
        identifier: ID,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self {
        try CodableStore(container: container, engine: engine).delete(identifier: identifier)
    }

    /// Deletes objects, as ``CodableStore/delete(identifiers:)``.
    ///
    /// - Parameters:
    ///   - identifiers: What identifies the objects.
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Returns: For each identifier in its place, what became of the object.
    @discardableResult
    public static func delete(
        identifiers: [ID],
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) -> [CodableStore<Self>.Result] {
        CodableStore(container: container, engine: engine).delete(identifiers: identifiers)
    }

    /// Deletes all objects, as ``CodableStore/deleteCollection()``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Returns: For each object, what became of it.
    /// - Throws: A ``Bodega/StorageError``.
    @discardableResult
    public static func deleteCollection(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> [CodableStore<Self>.Result] {
        try CodableStore(container: container, engine: engine).deleteCollection()
    }
}
