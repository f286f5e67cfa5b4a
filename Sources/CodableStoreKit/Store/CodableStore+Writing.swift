extension CodableStore {

    /// Saves an object. It replaces an object with the same identifier.
    ///
    /// If this process has read the replaced record before and could not decode it, the record is kept under another
    /// name. Otherwise, the record is not inspected.
    ///
    /// - Parameter object: The object to save.
    /// - Returns: The saved object.
    /// - Throws: A ``/Bodega/StorageError``. In that case, nothing is changed.
    @discardableResult
    public func save(_ object: Object) throws -> Object {
        try collection().save([object])[0].get()
    }

    /// Saves objects.
    ///
    /// The objects that can be encoded are written in one batch. If the batch fails, each object is written alone.
    ///
    /// - Parameter objects: The objects to save. If several have the same identifier, the last one remains.
    /// - Returns: One result per object, in the same order.
    @discardableResult
    public func save(_ objects: [Object]) -> [Result] {
        results(of: objects.map { $0.codableStoreID }) { $0.save(objects) }
    }

    /// Deletes the stored object with the same identifier.
    ///
    /// - Parameter object: An object with the identifier.
    /// - Returns: The deleted object, as it was stored.
    /// - Throws: A ``/Bodega/StorageError``. See ``delete(identifier:)``.
    @discardableResult
    public func delete(_ object: Object) throws -> Object {
        try delete(identifier: object.codableStoreID)
    }

    /// Deletes an object.
    ///
    /// - Parameter identifier: The object's identifier.
    /// - Returns: The deleted object, as it was stored.
    /// - Throws: A ``/Bodega/StorageError``, with ``Bodega/StorageError/Code/notFound`` if there is no such object, and
    ///   ``/Bodega/StorageError/Code/decodingFailed`` if it cannot be decoded, in which case it stays stored.
    @discardableResult
    public func delete(identifier: Object.ID) throws -> Object {
        try collection().delete([identifier])[0].get()
    }

    /// Deletes the stored objects with the same identifiers. See ``delete(identifiers:)``.
    ///
    /// - Parameter objects: Objects with the identifiers.
    /// - Returns: One result per object, in the same order.
    @discardableResult
    public func delete(_ objects: [Object]) -> [Result] {
        delete(identifiers: objects.map { $0.codableStoreID })
    }

    /// Deletes objects in one batch. If the batch fails, each object is deleted alone.
    ///
    /// - Parameter identifiers: The identifiers of the objects.
    /// - Returns: For each identifier, in the same order, the deleted object as it was stored, or the error.
    @discardableResult
    public func delete(identifiers: [Object.ID]) -> [Result] {
        results(of: identifiers) { $0.delete(identifiers) }
    }

    /// Deletes all objects atomically. With a custom engine, they are deleted one by one.
    ///
    /// Objects that cannot be decoded stay stored. ``fetchCollection()`` reports them.
    ///
    /// - Returns: One result per object.
    /// - Throws: A ``/Bodega/StorageError`` if reading the objects or the batch failed. Then no object is deleted.
    @discardableResult
    public func deleteCollection() throws -> [Result] {
        try collection().deleteAll().map { Result($0) }
    }

    /// Removes the collection itself: all objects, also records that cannot be decoded, and what contains them, such as
    /// the table of an SQLite file, or the folder if no other files are in it.
    ///
    /// Observers are notified of the objects that can be decoded. The store can still be used: the next save creates
    /// the collection again, and so do observers in other processes, and those that are notified of changes of others.
    /// ``deleteCollection()`` keeps the collection and what cannot be decoded.
    ///
    /// The collection of an SQLite engine that was passed to ``CodableStore/Engine/sqlite(_:)`` stays, without its
    /// items; so does what contains the objects of a custom engine.
    ///
    /// - Throws: A ``/Bodega/StorageError``. In that case, nothing is changed; a custom engine may have deleted some.
    public func removeCollection() throws {
        try collection().removeAll()
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
