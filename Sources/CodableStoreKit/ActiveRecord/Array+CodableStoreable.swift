extension Array where Element: CodableStoreable {

    /// Saves the objects, as ``CodableStore/save(_:)-([Object])``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Returns: For each object in its place, what became of it.
    @discardableResult
    public func save(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Element>.Engine = .fileSystem
    ) -> [CodableStore<Element>.Result] {
        CodableStore<Element>(container: container, engine: engine).save(self)
    }

    /// Deletes the objects, as ``CodableStore/delete(_:)-([Object])``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    /// - Returns: For each object in its place, what became of it.
    @discardableResult
    public func delete(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Element>.Engine = .fileSystem
    ) -> [CodableStore<Element>.Result] {
        CodableStore<Element>(container: container, engine: engine).delete(self)
    }
}
