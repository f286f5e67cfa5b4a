extension Array where Element: CodableStoreable {

    /// Saves the objects. See ``CodableStore/save(_:)-([Object])``.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Returns: One result per object, in the same order.
    @discardableResult
    public func save(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Element>.Engine = .fileSystem
    ) -> [CodableStore<Element>.Result] {
        CodableStore<Element>(container: container, engine: engine).save(self)
    }

    /// Deletes the objects. See ``CodableStore/delete(_:)-([Object])``.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    /// - Returns: One result per object, in the same order.
    @discardableResult
    public func delete(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Element>.Engine = .fileSystem
    ) -> [CodableStore<Element>.Result] {
        CodableStore<Element>(container: container, engine: engine).delete(self)
    }
}
