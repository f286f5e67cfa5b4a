// The forms with the label `handler:`, as CodableStoreKit has them. With a trailing closure the others are chosen.

extension CodableStoreable {

    /// What is called with each event. Code in Swift 6 takes ``CodableStore/Observer``.
    public typealias ObserveHandler = (CodableStore<Self>.ObserveEvent) -> Void

    /// Observes the object with this one's identifier; the same as ``observe(container:engine:on:_:)``.
    ///
    /// - Parameter handler: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public func observe(
        handler: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(handler)
    }

    /// Observes the object with an identifier; the same as ``observe(identifier:container:engine:on:_:)``.
    ///
    /// - Parameters:
    ///   - identifier: What identifies the object.
    ///   - handler: What is called when it was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public static func observe(
        identifier: ID,
        handler: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(identifier: identifier, handler)
    }

    /// Observes the objects that meet a condition; the same as ``observe(where:container:engine:on:_:)``.
    ///
    /// - Parameters:
    ///   - predicate: The condition.
    ///   - handler: What is called when such an object was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public static func observe(
        where predicate: @escaping @Sendable (Self) -> Bool,
        handler: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        observe(where: predicate, handler)
    }

    /// Observes all objects; the same as ``observeCollection(container:engine:on:_:)``.
    ///
    /// - Parameter handler: What is called when an object was saved or deleted.
    /// - Returns: What ends the observation. It goes on also if this is not kept.
    @preconcurrency
    @_disfavoredOverload
    @discardableResult
    public static func observeCollection(
        handler: @escaping CodableStore<Self>.Observer
    ) -> ObservableCodableStoreSubscription {
        observeCollection(handler)
    }
}
