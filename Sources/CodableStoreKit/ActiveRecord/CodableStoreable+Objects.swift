extension CodableStoreable {

    /// Saves the object. See ``CodableStore/save(_:)-(Object)``.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Returns: The saved object.
    /// - Throws: A ``/Bodega/StorageError``.
    @discardableResult
    public func save(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self {
        try CodableStore(container: container, engine: engine).save(self)
    }

    /// Deletes the object. See ``CodableStore/delete(_:)-(Object)``.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Returns: The deleted object, as it was stored.
    /// - Throws: A ``/Bodega/StorageError``.
    @discardableResult
    public func delete(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self {
        try CodableStore(container: container, engine: engine).delete(self)
    }

    /// Returns whether an object with the same identifier is stored. See ``CodableStore/exists(_:)``.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    public func exists(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) -> Bool {
        CodableStore(container: container, engine: engine).exists(self)
    }

    /// Saves the object in another container. The form with the label `inEngine:` of the original CodableStoreKit,
    /// equivalent to ``save(container:engine:)``.
    @discardableResult
    public func copy(
        toContainer container: CodableStoreContainer,
        inEngine engine: CodableStore<Self>.Engine
    ) throws -> Self {
        try save(container: container, engine: engine)
    }
}
