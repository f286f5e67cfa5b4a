extension CodableStoreable {

    /// Returns an object. See ``CodableStore/get(identifier:)``.
    ///
    /// - Parameters:
    ///   - identifier: The object's identifier.
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Throws: A ``/Bodega/StorageError``, with ``Bodega/StorageError/Code/notFound`` if no such object exists.
    public static func get(
        identifier: ID,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self {
        try CodableStore(container: container, engine: engine).get(identifier: identifier)
    }

    /// Returns all objects. See ``CodableStore/getCollection()``.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Throws: A ``/Bodega/StorageError``.
    public static func getCollection(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> [Self] {
        try CodableStore(container: container, engine: engine).getCollection()
    }

    /// Returns the objects that satisfy a condition. See ``CodableStore/get(where:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Throws: A ``/Bodega/StorageError``, or the predicate's error.
    public static func get(
        where predicate: (Self) throws -> Bool,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> [Self] {
        try CodableStore(container: container, engine: engine).get(where: predicate)
    }

    /// Returns the first object that satisfies a condition. See ``CodableStore/first(where:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Throws: A ``/Bodega/StorageError``, or the predicate's error.
    public static func first(
        where predicate: (Self) throws -> Bool,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self? {
        try CodableStore(container: container, engine: engine).first(where: predicate)
    }

    /// Returns whether an object is stored. See ``CodableStore/exists(identifier:)``.
    ///
    /// - Parameters:
    ///   - identifier: The object's identifier.
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    public static func exists(
        identifier: ID,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) -> Bool {
        CodableStore(container: container, engine: engine).exists(identifier: identifier)
    }

    /// Deletes an object. See ``CodableStore/delete(identifier:)``.
    ///
    /// - Parameters:
    ///   - identifier: The object's identifier.
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Returns: The deleted object, as it was stored.
    /// - Throws: A ``/Bodega/StorageError``.
    @discardableResult
    public static func delete(
        identifier: ID,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self {
        try CodableStore(container: container, engine: engine).delete(identifier: identifier)
    }

    /// Deletes objects. See ``CodableStore/delete(identifiers:)``.
    ///
    /// - Parameters:
    ///   - identifiers: The identifiers of the objects.
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Returns: One result per identifier, in the same order.
    @discardableResult
    public static func delete(
        identifiers: [ID],
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) -> [CodableStore<Self>.Result] {
        CodableStore(container: container, engine: engine).delete(identifiers: identifiers)
    }

    /// Deletes all objects. See ``CodableStore/deleteCollection()``.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Returns: One result per object.
    /// - Throws: A ``/Bodega/StorageError``.
    @discardableResult
    public static func deleteCollection(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> [CodableStore<Self>.Result] {
        try CodableStore(container: container, engine: engine).deleteCollection()
    }
}
