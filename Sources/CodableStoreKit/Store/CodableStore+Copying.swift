extension CodableStore {

    /// Copies objects into another container, where they replace those with their identifiers.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - engine: Its engine; by default the store's own.
    ///   - predicate: Which objects to copy; by default all.
    /// - Returns: For each object, what became of it.
    /// - Throws: A ``Bodega/StorageError`` if the objects could not be read.
    @discardableResult
    public func copy(
        toContainer container: CodableStoreContainer,
        engine: Engine? = nil,
        where predicate: ((Object) -> Bool)? = nil
    ) throws -> [Result] {
        try copy(toStore: CodableStore(container: container, engine: engine ?? self.engine), where: predicate)
    }

    /// Copies objects into another store, where they replace those with their identifiers.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - predicate: Which objects to copy; by default all.
    /// - Returns: For each object, what became of it.
    /// - Throws: A ``Bodega/StorageError`` if the objects could not be read.
    @discardableResult
    public func copy(toStore store: CodableStore<Object>, where predicate: ((Object) -> Bool)? = nil) throws -> [Result]
    {
        let objects = try getCollection()
        return store.save(predicate.map { objects.filter($0) } ?? objects)
    }
}
