import Bodega

extension CodableStore {

    /// Copies objects into another container, where they replace objects with the same identifiers.
    ///
    /// - Parameters:
    ///   - container: The destination container.
    ///   - engine: The destination engine. The default is the engine of this store.
    ///   - predicate: A condition for the objects to copy. By default, all objects are copied.
    /// - Returns: One result per object. See ``copy(toStore:where:)``.
    /// - Throws: A ``/Bodega/StorageError``. See ``copy(toStore:where:)``.
    @discardableResult
    public func copy(
        toContainer container: CodableStoreContainer,
        engine: Engine? = nil,
        where predicate: ((Object) -> Bool)? = nil
    ) throws -> [Result] {
        try copy(toStore: CodableStore(container: container, engine: engine ?? self.engine), where: predicate)
    }

    /// Copies objects into another store, where they replace objects with the same identifiers.
    ///
    /// - Parameters:
    ///   - store: The destination.
    ///   - predicate: A condition for the objects to copy. By default, all objects are copied.
    /// - Returns: One result per object. Objects that cannot be decoded are not copied. Their failures come last,
    ///   regardless of the predicate.
    /// - Throws: A ``/Bodega/StorageError`` if the objects could not be read. The code is
    ///   ``/Bodega/StorageError/Code/decodingFailed`` if a record cannot be decoded and its name is not a valid
    ///   identifier, for example because another program has added the file. In that case, the objects were copied.
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
                        " Its name is not a valid identifier. All other objects were copied. Move the record elsewhere."
                    throw error
                }
                return .failure(identifier, error)
            }
    }
}
