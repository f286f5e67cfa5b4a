extension CodableStoreable {

    /// Observes the object with an identifier, as ``CodableStore/observe(identifier:on:_:)``.
    ///
    /// - Parameters:
    ///   - identifier: What identifies the object.
    ///   - container: The section of the engine. If neither it nor the engine is given, all containers and engines of the
    ///     process are observed; see ``observeCollection(container:engine:on:_:)``.
    ///   - engine: What keeps the objects.
    ///   - scheduler: Where the observer is called.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public static func observe(
        identifier: ID,
        container: CodableStoreContainer? = nil,
        engine: CodableStore<Self>.Engine? = nil,
        on scheduler: ObserverScheduler = .automatic,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        guard let store = CodableStore<Self>(in: container, of: engine) else {
            let identity = Identity(identifier)
            return TypeObservers.add(where: { $0.codableStoreIdentity == identity }, on: scheduler, observer)
        }
        return store.observe(identifier: identifier, on: scheduler, observer)
    }

    /// Observes the objects that meet a condition, as ``CodableStore/observe(where:on:_:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - container: The section of the engine. If neither it nor the engine is given, all containers and engines of the
    ///     process are observed; see ``observeCollection(container:engine:on:_:)``.
    ///   - engine: What keeps the objects.
    ///   - scheduler: Where the observer is called.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public static func observe(
        where predicate: @escaping @Sendable (Self) -> Bool,
        container: CodableStoreContainer? = nil,
        engine: CodableStore<Self>.Engine? = nil,
        on scheduler: ObserverScheduler = .automatic,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        guard let store = CodableStore<Self>(in: container, of: engine) else {
            return TypeObservers.add(where: predicate, on: scheduler, observer)
        }
        return store.observe(where: predicate, on: scheduler, observer)
    }

    /// Observes all objects, as ``CodableStore/observeCollection(on:_:)``.
    ///
    /// If neither a container nor an engine is given, the observer is called for what stores of this process save and delete
    /// in any container and engine, one call at a time; the event says where it was. What others change in an SQLite file is
    /// among that as long as a store's collection there is observed, too. If only one of the two is given, the other is the
    /// default.
    ///
    /// - Parameters:
    ///   - container: The section of the engine.
    ///   - engine: What keeps the objects.
    ///   - scheduler: Where the observer is called.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public static func observeCollection(
        container: CodableStoreContainer? = nil,
        engine: CodableStore<Self>.Engine? = nil,
        on scheduler: ObserverScheduler = .automatic,
        _ observer: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        guard let store = CodableStore<Self>(in: container, of: engine) else {
            return TypeObservers.add(where: { _ in true }, on: scheduler, observer)
        }
        return store.observeCollection(on: scheduler, observer)
    }

    /// Observes the object with this one's identifier, as ``CodableStore/observe(_:on:_:)``.
    ///
    /// - Parameters:
    ///   - container: The section of the engine. If neither it nor the engine is given, all containers and engines of the
    ///     process are observed; see ``observeCollection(container:engine:on:_:)``.
    ///   - engine: What keeps the objects.
    ///   - scheduler: Where the observer is called.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
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
}

extension CodableStore {
    /// - Returns: `nil` if neither the container nor the engine is given.
    fileprivate convenience init?(in container: CodableStoreContainer?, of engine: Engine?) {
        if container == nil, engine == nil { return nil }
        self.init(container: container ?? .default, engine: engine ?? .fileSystem)
    }
}
