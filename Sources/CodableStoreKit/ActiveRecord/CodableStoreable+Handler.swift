// The forms with the label `handler:` of the original CodableStoreKit. A trailing closure selects the other forms.

extension CodableStoreable {

    /// A closure that receives events. In Swift 6 code, use ``CodableStore/Observer``.
    public typealias ObserveHandler = (CodableStore<Self>.ObserveEvent) -> Void

    /// Observes the object with the same identifier. Equivalent to ``observe(container:engine:on:_:)``.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observe(
        handler: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(handler)
    }

    /// Observes the object with an identifier. Equivalent to ``observe(identifier:container:engine:on:_:)``.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public static func observe(
        identifier: ID,
        handler: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(identifier: identifier, handler)
    }

    /// Observes the objects that satisfy a condition. Equivalent to ``observe(where:container:engine:on:_:)``.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public static func observe(
        where predicate: @escaping @Sendable (Self) -> Bool,
        handler: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(where: predicate, handler)
    }

    /// Observes all objects. Equivalent to ``observeCollection(container:engine:on:_:)``.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public static func observeCollection(
        handler: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        observeCollection(handler)
    }
}
