// The forms with the label `inEngine:`, as CodableStoreKit has them.

extension CopyableCodableStore {

    /// Copies objects into another container; the same as ``copy(toContainer:engine:where:)``.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - engine: Its engine.
    ///   - predicate: Which objects to copy; by default all.
    /// - Returns: For each object, what became of it.
    /// - Throws: A ``Bodega/StorageError``, as ``CodableStore/copy(toStore:where:)``.
    @discardableResult
    public func copy(
        toContainer container: CodableStoreContainer,
        inEngine engine: CodableStore<Object>.Engine,
        where predicate: ((Object) -> Bool)? = nil
    ) throws -> [CodableStore<Object>.Result] {
        try copy(toContainer: container, engine: engine, where: predicate)
    }
}

extension CodableStoreable {

    /// Saves the object in another container; the same as ``save(container:engine:)``.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - engine: Its engine.
    /// - Returns: The object.
    /// - Throws: A ``Bodega/StorageError``.
    @discardableResult
    public func copy(
        toContainer container: CodableStoreContainer,
        inEngine engine: CodableStore<Self>.Engine
    ) throws -> Self {
        try save(container: container, engine: engine)
    }
}
