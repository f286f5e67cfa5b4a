extension CodableStoreable {

    /// Observes the object with an identifier. See ``CodableStore/observe(identifier:on:_:)``.
    ///
    /// - Parameters:
    ///   - identifier: The object's identifier.
    ///   - container: The container within the engine. If both it and the engine are `nil`, all containers and engines
    ///     of the process are observed. See ``observeCollection(container:engine:on:_:)``.
    ///   - engine: The engine that stores the objects.
    ///   - scheduler: Where the observer is called.
    ///   - observer: A closure called after the object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public static func observe(
        identifier: ID,
        container: CodableStoreContainer? = nil,
        engine: CodableStore<Self>.Engine? = nil,
        on scheduler: ObserverScheduler = .automatic,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        subscribe(of: Identity(identifier), container, engine, scheduler, observer)
    }

    /// Observes the objects that satisfy a condition. See ``CodableStore/observe(where:on:_:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - container: The container within the engine. If both it and the engine are `nil`, all containers and engines
    ///     of the process are observed. See ``observeCollection(container:engine:on:_:)``.
    ///   - engine: The engine that stores the objects.
    ///   - scheduler: Where the observer is called.
    ///   - observer: A closure called after the object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public static func observe(
        where predicate: @escaping @Sendable (Self) -> Bool,
        container: CodableStoreContainer? = nil,
        engine: CodableStore<Self>.Engine? = nil,
        on scheduler: ObserverScheduler = .automatic,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        subscribe(where: predicate, container, engine, scheduler, observer)
    }

    /// Observes all objects. See ``CodableStore/observeCollection(on:_:)``.
    ///
    /// If both the container and the engine are `nil`, the observer is called for the changes of all stores of this
    /// process, one call at a time. The event has both. Foreign changes of an SQLite file are included while the
    /// collection of a store on the file is observed, too; once for each `SQLiteStorageEngine` with such a store, so
    /// open a file with one engine. If only one of the two is `nil`, its default is used.
    ///
    /// - Parameters:
    ///   - container: The container within the engine.
    ///   - engine: The engine that stores the objects.
    ///   - scheduler: Where the observer is called.
    ///   - observer: A closure called after the object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public static func observeCollection(
        container: CodableStoreContainer? = nil,
        engine: CodableStore<Self>.Engine? = nil,
        on scheduler: ObserverScheduler = .automatic,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        subscribe(container, engine, scheduler, observer)
    }

    /// Observes the object with the same identifier. See ``CodableStore/observe(_:on:_:)``.
    ///
    /// - Parameters:
    ///   - container: The container within the engine. If both it and the engine are `nil`, all containers and engines
    ///     of the process are observed. See ``observeCollection(container:engine:on:_:)``.
    ///   - engine: The engine that stores the objects.
    ///   - scheduler: Where the observer is called.
    ///   - observer: A closure called after the object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public func observe(
        container: CodableStoreContainer? = nil,
        engine: CodableStore<Self>.Engine? = nil,
        on scheduler: ObserverScheduler = .automatic,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        Self.observe(identifier: codableStoreID, container: container, engine: engine, on: scheduler, observer)
    }

    private static func subscribe(
        of identity: Identity<ID>? = nil,
        where predicate: ((Self) -> Bool)? = nil,
        _ container: CodableStoreContainer?,
        _ engine: CodableStore<Self>.Engine?,
        _ scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        if container == nil, engine == nil {
            return TypeObservers.add(of: identity, where: predicate, on: scheduler, observer)
        }
        let store = CodableStore<Self>(container: container ?? .default, engine: engine ?? .fileSystem)
        return store.subscribe(of: identity, where: predicate, on: scheduler, observer)
    }
}
