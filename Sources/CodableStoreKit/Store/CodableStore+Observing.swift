import Logging

extension CodableStore {

    /// What is called with each event.
    public typealias Observer = @Sendable (ObserveEvent) -> Void

    /// Observes the object with the identifier of this one.
    ///
    /// See ``observeCollection(on:_:)`` for when and where the observer is called.
    ///
    /// - Parameters:
    ///   - object: The object. It need not be stored.
    ///   - scheduler: Where the observer is called.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
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
    /// See ``observeCollection(on:_:)`` for when and where the observer is called.
    ///
    /// - Parameters:
    ///   - identifier: What identifies it. No object need have it.
    ///   - scheduler: Where the observer is called.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public func observe(
        identifier: Object.ID,
        on scheduler: ObserverScheduler,
        _ observer: @escaping Observer
    ) -> ObservableCodableStoreSubscription {
        let identity = Identity(identifier)
        return subscribe(where: { $0.codableStoreIdentity == identity }, on: scheduler, observer)
    }

    /// Observes the objects that meet a condition.
    ///
    /// See ``observeCollection(on:_:)`` for when and where the observer is called.
    ///
    /// - Parameters:
    ///   - predicate: The condition, asked of an object as it was saved, or as it was stored before it was deleted. It is asked
    ///     on the thread that would call the observer if its scheduler were ``ObserverScheduler/immediate``.
    ///   - scheduler: Where the observer is called.
    ///   - observer: What is called when such an object was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
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
    /// The observer is called for changes by any store of the process on the same engine and container: after the change
    /// is durable, once, in the order of the changes, one call at a time, outside of any lock: it may use stores and
    /// subscriptions as it likes. Where it is called is up to the scheduler.
    ///
    /// When a save returns, its observers with the scheduler ``ObserverScheduler/immediate`` have been called, unless another
    /// thread was calling observers just then: that thread calls them, or leaves it to one whose own change is under way.
    /// No thread is kept longer than by what waited when it began, as long as others go on changing things; when all have
    /// returned, all of these observers have been called.
    ///
    /// Objects of a class are told as copies, made by the type's coder from what is stored, one for each observer: they are
    /// not the objects that were saved or deleted. A custom engine's are told as it has returned them.
    ///
    /// If the collection can't be opened, that is logged, and the observation begins as soon as any store of the process
    /// has opened it.
    ///
    /// - Parameters:
    ///   - scheduler: Where the observer is called.
    ///   - observer: What is called when an object was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public func observeCollection(
        on scheduler: ObserverScheduler,
        _ observer: @escaping Observer
    ) -> ObservableCodableStoreSubscription {
        subscribe(where: { _ in true }, on: scheduler, observer)
    }

    private func subscribe(
        where predicate: @escaping (Object) -> Bool,
        on scheduler: ObserverScheduler,
        _ observer: @escaping Observer
    ) -> ObservableCodableStoreSubscription {
        let (container, engine) = (container, engine)
        let inbox = ObserverInbox(scheduler, observer)
        let (observation, failure) = addObserver { change in
            if predicate(change.object) { inbox.add(ObserveEvent(change, container, engine)) }
        }
        let subscription = ObservableCodableStoreSubscription {
            observation.unsubscribe()
            inbox.end()
        }
        if let failure {
            codableStoreLogger.error(
                "A collection can't be observed before an operation of the store has opened it.",
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
