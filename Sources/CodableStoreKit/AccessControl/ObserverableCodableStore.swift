/// A store that can be observed.
public protocol ObserverableCodableStore<Object> {
    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Observes an object, as ``CodableStore/observe(_:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        _ object: Object,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes the object with an identifier, as ``CodableStore/observe(identifier:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        identifier: Object.ID,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes the objects that meet a condition, as ``CodableStore/observe(where:_:)``.
    @preconcurrency
    @discardableResult
    func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription

    /// Observes all objects, as ``CodableStore/observeCollection(_:)``.
    @preconcurrency
    @discardableResult
    func observeCollection(_ observer: @escaping CodableStore<Object>.Observer) -> ObservableCodableStoreSubscription
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
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        store.observe(object, observer)
    }

    @preconcurrency
    @discardableResult
    public func observe(
        identifier: Object.ID,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        store.observe(identifier: identifier, observer)
    }

    @preconcurrency
    @discardableResult
    public func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        store.observe(where: predicate, observer)
    }

    @preconcurrency
    @discardableResult
    public func observeCollection(
        _ observer: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        store.observeCollection(observer)
    }
}

extension AnyObserverableCodableStore where Object: Sendable {
    /// What happens to the objects of the collection from now on, as ``CodableStore/events()``.
    public func events() -> AsyncStream<CodableStore<Object>.ObserveEvent> {
        store.events()
    }
}

extension AnyObserverableCodableStore: Sendable where Object: Sendable {}
