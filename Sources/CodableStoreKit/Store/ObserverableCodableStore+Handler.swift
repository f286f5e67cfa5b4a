// The forms with the label `handler:`, as CodableStoreKit has them. With a trailing closure the others are chosen.

extension ObserverableCodableStore {

    /// What is called with each event. Code in Swift 6 takes ``CodableStore/Observer``.
    public typealias ObserveHandler = (CodableStore<Object>.ObserveEvent) -> Void

    /// Observes an object; the same as ``observe(_:_:)``.
    ///
    /// - Parameters:
    ///   - object: The object. It need not be stored.
    ///   - handler: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observe(
        _ object: Object,
        handler: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(object, handler)
    }

    /// Observes the object with an identifier; the same as ``observe(identifier:_:)``.
    ///
    /// - Parameters:
    ///   - identifier: What identifies it. No object need have it.
    ///   - handler: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observe(
        identifier: Object.ID,
        handler: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(identifier: identifier, handler)
    }

    /// Observes the objects that meet a condition; the same as ``observe(where:_:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - handler: What is called when such an object was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observe(
        where predicate: @escaping @Sendable (Object) -> Bool,
        handler: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(where: predicate, handler)
    }

    /// Observes all objects; the same as ``observeCollection(_:)``.
    ///
    /// - Parameter handler: What is called when an object was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observeCollection(
        handler: @escaping CodableStore<Object>.Observer
    ) -> ObservableCodableStoreSubscription {
        observeCollection(handler)
    }
}
