extension CodableStoreable {

    /// Observes the object with an identifier, as ``CodableStore/observe(identifier:_:)``.
    ///
    /// - Parameters:
    ///   - identifier: What identifies the object.
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public static func observe(
        identifier: ID,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        CodableStore(container: container, engine: engine).observe(identifier: identifier, observer)
    }

    /// Observes the objects that meet a condition, as ``CodableStore/observe(where:_:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public static func observe(
        where predicate: @escaping @Sendable (Self) -> Bool,
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        CodableStore(container: container, engine: engine).observe(where: predicate, observer)
    }

    /// Observes all objects, as ``CodableStore/observeCollection(_:)``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public static func observeCollection(
        container: CodableStoreContainer = .default,
        engine: CodableStore<Self>.Engine = .fileSystem,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        CodableStore(container: container, engine: engine).observeCollection(observer)
    }
}
