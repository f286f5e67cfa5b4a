import Bodega

extension CodableStore {

    /// Copies objects into another container, where they replace those with their identifiers.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - engine: Its engine; by default the store's own.
    ///   - predicate: Which objects to copy; by default all.
    /// - Returns: For each object, what became of it; see ``copy(toStore:where:)``.
    /// - Throws: A ``Bodega/StorageError``, as ``copy(toStore:where:)``.
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
    /// - Returns: For each object, what became of it. One that can't be decoded is not copied; its failure is at the end,
    ///   whatever the predicate.
    /// - Throws: A ``Bodega/StorageError`` if the objects could not be read. With
    ///   ``Bodega/StorageError/Code/decodingFailed``, a record can't be decoded and its name is no identifier, as that of a
    ///   file which another program has put there; the objects were copied.
    @discardableResult
    public func copy(toStore store: CodableStore<Object>, where predicate: ((Object) -> Bool)? = nil) throws -> [Result]
    {
        let found = try fetchCollection()
        let results = store.save(predicate.map { found.objects.filter($0) } ?? found.objects)
        return try results
            + found.undecodable.map { error in
                guard let key = error.key,
                    let identifier = IdentifierText.identifier(of: key.rawValue, as: Object.ID.self)
                else {
                    var error = error
                    error.message +=
                        " Its name is no identifier, so it was not copied; the objects were. Move it elsewhere."
                    throw error
                }
                return .failure(identifier, error)
            }
    }
}
