// The forms with the label `handler:` of the original CodableStoreKit. A trailing closure selects the other forms.

extension ObserverableCodableStore {

    /// A closure that receives events. In Swift 6 code, use ``CodableStore/Observer``.
    public typealias ObserveHandler = (CodableStore<Object>.ObserveEvent) -> Void

    /// Observes the object with the same identifier. Equivalent to ``observe(_:_:)``.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observe(
        _ object: Object,
        handler: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(object, handler)
    }

    /// Observes the object with an identifier. Equivalent to ``observe(identifier:_:)``.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observe(
        identifier: Object.ID,
        handler: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(identifier: identifier, handler)
    }

    /// Observes the objects that satisfy a condition. Equivalent to ``observe(where:_:)``.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        handler: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(where: predicate, handler)
    }

    /// Observes all objects. Equivalent to ``observeCollection(_:)``.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observeCollection(
        handler: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observeCollection(handler)
    }
}
