extension CodableStoreable {

    /// Saves the object, as ``CodableStore/save(_:)-(Object)``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Returns: The object.
    /// - Throws: A ``Bodega/StorageError``.
    @discardableResult
    public func save(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self {
        try CodableStore(container: container, engine: engine).save(self)
    }

    /// Deletes the object, as ``CodableStore/delete(_:)-(Object)``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Returns: The object as it was stored.
    /// - Throws: A ``Bodega/StorageError``.
    @discardableResult
    public func delete(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) throws -> Self {
        try CodableStore(container: container, engine: engine).delete(self)
    }

    /// Whether an object with this one's identifier is stored, as ``CodableStore/exists(_:)``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    public func exists(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem
    ) -> Bool {
        CodableStore(container: container, engine: engine).exists(self)
    }
}
