/// A store that can be observed.
public protocol ObserverableCodableStore<Object> {
    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Observes an object, as ``CodableStore/observe(_:on:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        _ object: Object,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes the object with an identifier, as ``CodableStore/observe(identifier:on:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        identifier: Object.ID,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes the objects that meet a condition, as ``CodableStore/observe(where:on:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes all objects, as ``CodableStore/observeCollection(on:_:)``.
    @preconcurrency
    @discardableResult
    func observeCollection(
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription
}

// The scheduler that an app needs, and any other program can live with.
extension ObserverableCodableStore {

    /// Observes the object with the identifier of this one, on the scheduler ``ObserverScheduler/automatic``.
    ///
    /// - Parameters:
    ///   - object: The object. It need not be stored.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public func observe(
        _ object: Object,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(object, on: .automatic, observer)
    }

    /// Observes the object with an identifier, on the scheduler ``ObserverScheduler/automatic``.
    ///
    /// - Parameters:
    ///   - identifier: What identifies it. No object need have it.
    ///   - observer: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public func observe(
        identifier: Object.ID,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(identifier: identifier, on: .automatic, observer)
    }

    /// Observes the objects that meet a condition, on the scheduler ``ObserverScheduler/automatic``.
    ///
    /// - Parameters:
    ///   - predicate: The condition, asked of an object as it was saved, or as it was stored before it was deleted.
    ///   - observer: What is called when such an object was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(where: predicate, on: .automatic, observer)
    }

    /// Observes all objects of the collection, on the scheduler ``ObserverScheduler/automatic``.
    ///
    /// - Parameter observer: What is called when an object was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @discardableResult
    public func observeCollection(
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observeCollection(on: .automatic, observer)
    }
}

extension CodableStore: ObserverableCodableStore {}

/// A view of a store that only observes.
public struct AnyObserverableCodableStore<Object: BaseCodableStoreable>: ObserverableCodableStore {
    private let store: CodableStore<Object>

    /// Narrows a store.
    ///
    /// - Parameter store: The store.
    public init(_ store: CodableStore<Object>) {
        self.store = store
    }

    @preconcurrency
    @discardableResult
    public func observe(
        _ object: Object,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        store.observe(object, on: scheduler, observer)
    }

    @preconcurrency
    @discardableResult
    public func observe(
        identifier: Object.ID,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        store.observe(identifier: identifier, on: scheduler, observer)
    }

    @preconcurrency
    @discardableResult
    public func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        store.observe(where: predicate, on: scheduler, observer)
    }

    @preconcurrency
    @discardableResult
    public func observeCollection(
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        store.observeCollection(on: scheduler, observer)
    }
}

extension AnyObserverableCodableStore where Object: Sendable {
    /// What happens to the objects of the collection from now on, as ``CodableStore/events()``.
    public func events() -> AsyncStream<CodableStore<Object>.ObserveEvent> {
        store.events()
    }
}

extension AnyObserverableCodableStore: Sendable where Object: Sendable {}
