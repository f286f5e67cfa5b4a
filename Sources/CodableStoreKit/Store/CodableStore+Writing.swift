extension CodableStore {

    /// Saves an object, in place of the one with its identifier if there is one.
    ///
    /// If a record was read before that has the object's identifier and can't be decoded, it is kept under another name.
    /// One that nobody in the process has read is replaced without being looked at.
    ///
    /// - Parameter object: The object.
    /// - Returns: The object.
    /// - Throws: A ``Bodega/StorageError``; what was stored is then as it was.
    @discardableResult
    public func save(_ object: Object) throws -> Object {
        try collection().save([object])[0].get()
    }

    /// Saves objects.
    ///
    /// Those that can be encoded are written as one batch. If it fails, each is tried alone.
    ///
    /// - Parameter objects: The objects. Of several with one identifier, the last stays.
    /// - Returns: For each object in its place, what became of it.
    @discardableResult
    public func save(_ objects: [Object]) -> [Result] {
        results(of: objects.map(\.codableStoreID)) { $0.save(objects) }
    }

    /// Deletes the object with the identifier of this one.
    ///
    /// - Parameter object: The object.
    /// - Returns: The object as it was stored.
    /// - Throws: A ``Bodega/StorageError``, with ``Bodega/StorageError/Code/notFound`` if there is none.
    @discardableResult
    public func delete(_ object: Object) throws -> Object {
        try delete(identifier: object.codableStoreID)
    }

    /// Deletes an object.
    ///
    /// - Parameter identifier: What identifies it.
    /// - Returns: The object as it was stored.
    /// - Throws: A ``Bodega/StorageError``, with ``Bodega/StorageError/Code/notFound`` if there is none. With
    ///   ``Bodega/StorageError/Code/decodingFailed``, it can't be returned, and stays stored.
    @discardableResult
    public func delete(identifier: Object.ID) throws -> Object {
        try collection().delete([identifier])[0].get()
    }

    /// Deletes the objects with the identifiers of these, as one batch.
    ///
    /// - Parameter objects: The objects.
    /// - Returns: For each object in its place, what became of it.
    @discardableResult
    public func delete(_ objects: [Object]) -> [Result] {
        delete(identifiers: objects.map(\.codableStoreID))
    }

    /// Deletes objects, as one batch. If it fails, each is tried alone.
    ///
    /// - Parameter identifiers: What identifies them.
    /// - Returns: For each identifier in its place, the object as it was stored, or why it was not deleted.
    @discardableResult
    public func delete(identifiers: [Object.ID]) -> [Result] {
        results(of: identifiers) { $0.delete(identifiers) }
    }

    /// Deletes all objects, as one batch: all of them or none. A custom engine deletes them one by one.
    ///
    /// What can't be decoded stays stored, and is told by ``fetchCollection()``.
    ///
    /// - Returns: For each object, what became of it.
    /// - Throws: A ``Bodega/StorageError`` if the objects could not be read or the batch failed; nothing was deleted then.
    @discardableResult
    public func deleteCollection() throws -> [Result] {
        try collection().deleteAll().map { Result($0) }
    }

    private func results(
        of identifiers: [Object.ID],
        _ operation: (OpenCollection) -> [Outcome<Object>]
    ) -> [Result] {
        do {
            return try operation(collection()).map { Result($0) }
        } catch {
            return identifiers.map { .failure($0, error) }
        }
    }
}

extension CodableStore.Result {
    fileprivate init(_ outcome: Outcome<Object>) {
        switch outcome.result {
        case .success(let object): self = .success(object)
        case .failure(let error): self = .failure(outcome.identifier, error)
        }
    }
}
