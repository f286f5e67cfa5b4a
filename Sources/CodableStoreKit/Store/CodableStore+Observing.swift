import Logging

extension CodableStore {

    /// A closure that receives events.
    public typealias Observer = @Sendable (ObserveEvent) -> Void

    /// Observes the object with the same identifier.
    ///
    /// ``observeCollection(on:_:)`` documents when and where the observer is called.
    ///
    /// - Parameters:
    ///   - object: An object with the identifier. It need not be stored.
    ///   - scheduler: Where the observer is called.
    ///   - observer: A closure called after the object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public func observe(
        _ object: Object,
        on scheduler: ObserverScheduler,
        _ observer: @escaping Observer
    ) -> ObservableCodableStoreSubscription {
        observe(identifier: object.codableStoreID, on: scheduler, observer)
    }

    /// Observes the object with an identifier.
    ///
    /// ``observeCollection(on:_:)`` documents when and where the observer is called.
    ///
    /// - Parameters:
    ///   - identifier: The object's identifier. The object need not be stored.
    ///   - scheduler: Where the observer is called.
    ///   - observer: A closure called after the object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public func observe(
        identifier: Object.ID,
        on scheduler: ObserverScheduler,
        _ observer: @escaping Observer
    ) -> ObservableCodableStoreSubscription {
        subscribe(of: Identity(identifier), on: scheduler, observer)
    }

    /// Observes the objects that satisfy a condition.
    ///
    /// ``observeCollection(on:_:)`` documents when and where the observer is called.
    ///
    /// - Parameters:
    ///   - predicate: The condition. It receives an object as it was saved, or as it was stored before it was deleted.
    ///     It is evaluated on the thread that would call an observer with the scheduler
    ///     ``ObserverScheduler/immediate``.
    ///   - scheduler: Where the observer is called.
    ///   - observer: A closure called after a matching object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        on scheduler: ObserverScheduler,
        _ observer: @escaping Observer
    ) -> ObservableCodableStoreSubscription {
        subscribe(where: predicate, on: scheduler, observer)
    }

    /// Observes all objects of the collection.
    ///
    /// The observer is called after each change by any store of the process on the same engine and container. It is
    /// called once per change, after it is durable, in the order of the changes, one at a time. No lock is held during
    /// a call, so the observer may use any store and subscription. The scheduler determines the thread or queue.
    ///
    /// When a save returns, its observers with the scheduler ``ObserverScheduler/immediate`` have been called, unless
    /// another thread was calling observers at that time. Then that thread calls them, or a third thread whose own
    /// change is in progress does. While other threads continue to make changes, a thread makes only the calls that
    /// were waiting when it began. When all operations have returned, all of these observers have been called.
    ///
    /// If `Object` is a class, each observer receives its own copy of the object, decoded from the record by the type's
    /// coder, not the saved or deleted instance. Objects of a custom engine are passed on as the engine returned them.
    ///
    /// An observer that is added in a transaction receives what others change after the transaction has ended.
    ///
    /// If the collection cannot be opened, the error is logged, and the observation begins when any store of the
    /// process opens the collection.
    ///
    /// - Parameters:
    ///   - scheduler: Where the observer is called.
    ///   - observer: A closure called after an object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public func observeCollection(
        on scheduler: ObserverScheduler,
        _ observer: @escaping Observer
    ) -> ObservableCodableStoreSubscription {
        subscribe(on: scheduler, observer)
    }

    /// Observes the object with an identity, or all objects, that satisfy a condition, or all of them.
    func subscribe(
        of identity: Identity<Object.ID>? = nil,
        where predicate: ((Object) -> Bool)? = nil,
        on scheduler: ObserverScheduler,
        _ observer: @escaping Observer
    ) -> ObservableCodableStoreSubscription {
        let (container, engine) = (container, engine)
        let inbox = ObserverInbox(scheduler, observer)
        let (observation, failure) = addObserver(of: identity) { change in
            if predicate?(change.object) ?? true { inbox.add(ObserveEvent(change, container, engine)) }
        }
        let subscription = ObservableCodableStoreSubscription {
            observation.unsubscribe()
            inbox.end()
        }
        if let failure {
            codableStoreLogger.error(
                "A collection could not be opened. It is observed once a store has opened it.",
                metadata: ["error": "\(failure)"]
            )
        }
        return subscription
    }
}

extension CodableStore.ObserveEvent {
    init(
        _ change: ObjectChange<Object>,
        _ container: CodableStoreContainer,
        _ engine: CodableStore<Object>.Engine
    ) {
        switch change {
        case .saved(let object): self = .saved(object: object, container: container, engine: engine)
        case .deleted(let object): self = .deleted(object: object, container: container, engine: engine)
        }
    }
}
