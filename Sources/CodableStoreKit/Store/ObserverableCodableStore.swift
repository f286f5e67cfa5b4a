/// A store that can be observed.
public protocol ObserverableCodableStore<Object> {
    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Observes the object with the same identifier. See ``CodableStore/observe(_:on:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        _ object: Object,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes the object with an identifier. See ``CodableStore/observe(identifier:on:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        identifier: Object.ID,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes the objects that satisfy a condition. See ``CodableStore/observe(where:on:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes all objects. See ``CodableStore/observeCollection(on:_:)``.
    @preconcurrency
    @discardableResult
    func observeCollection(
        on scheduler: ObserverScheduler,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription
}

// The forms without a scheduler.
extension ObserverableCodableStore {

    /// Observes the object with the same identifier, on the scheduler ``ObserverScheduler/automatic``.
    ///
    /// - Parameters:
    ///   - object: An object with the identifier. It need not be stored.
    ///   - observer: A closure called after the object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
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
    ///   - identifier: The object's identifier. The object need not be stored.
    ///   - observer: A closure called after the object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public func observe(
        identifier: Object.ID,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(identifier: identifier, on: .automatic, observer)
    }

    /// Observes the objects that satisfy a condition, on the scheduler ``ObserverScheduler/automatic``.
    ///
    /// - Parameters:
    ///   - predicate: The condition. It receives an object as it was saved, or as it was stored before it was deleted.
    ///   - observer: A closure called after a matching object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
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
    /// - Parameter observer: A closure called after an object is saved or deleted.
    /// - Returns: A subscription. Discarding it does not end the observation.
    @preconcurrency
    @discardableResult
    public func observeCollection(
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observeCollection(on: .automatic, observer)
    }
}

extension CodableStore: ObserverableCodableStore {}

/// An observe-only view of a store.
public struct AnyObserverableCodableStore<Object: BaseCodableStoreable>: ObserverableCodableStore {
    private let store: CodableStore<Object>

    /// Creates a view of a store.
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
    /// Returns a stream of future changes of all objects of the collection. See ``CodableStore/events()``.
    public func events() -> AsyncStream<CodableStore<Object>.ObserveEvent> {
        store.events()
    }
}

extension AnyObserverableCodableStore: Sendable where Object: Sendable {}
