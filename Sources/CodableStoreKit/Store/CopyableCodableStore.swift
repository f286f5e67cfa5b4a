/// A store whose objects can be copied elsewhere.
public protocol CopyableCodableStore<Object> {
    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Copies objects into another container. See ``CodableStore/copy(toContainer:engine:where:)``.
    @discardableResult
    func copy(
        toContainer container: CodableStoreContainer,
        engine: CodableStore<Object>.Engine?,
        where predicate: ((Object) -> Bool)?
    ) throws -> [CodableStore<Object>.Result]

    /// Copies objects into another store. See ``CodableStore/copy(toStore:where:)``.
    @discardableResult
    func copy(
        toStore store: CodableStore<Object>,
        where predicate: ((Object) -> Bool)?
    ) throws -> [CodableStore<Object>.Result]
}

extension CopyableCodableStore {

    /// Copies objects into another container. The form with the label `inEngine:` of the original CodableStoreKit,
    /// equivalent to ``copy(toContainer:engine:where:)``.
    @discardableResult
    public func copy(
        toContainer container: CodableStoreContainer,
        inEngine engine: CodableStore<Object>.Engine,
        where predicate: ((Object) -> Bool)? = nil
    ) throws -> [CodableStore<Object>.Result] {
        try copy(toContainer: container, engine: engine, where: predicate)
    }
}

extension CodableStore: CopyableCodableStore {}

/// A copy-only view of a store.
public struct AnyCopyableCodableStore<Object: BaseCodableStoreable>: CopyableCodableStore {
    private let store: CodableStore<Object>

    /// Creates a view of a store.
    ///
    /// - Parameter store: The store.
    public init(_ store: CodableStore<Object>) {
        self.store = store
    }

    @discardableResult
    public func copy(
        toContainer container: CodableStoreContainer,
        engine: CodableStore<Object>.Engine? = nil,
        where predicate: ((Object) -> Bool)? = nil
    ) throws -> [CodableStore<Object>.Result] {
        try store.copy(toContainer: container, engine: engine, where: predicate)
    }

    @discardableResult
    public func copy(
        toStore store: CodableStore<Object>,
        where predicate: ((Object) -> Bool)? = nil
    ) throws -> [CodableStore<Object>.Result] {
        try self.store.copy(toStore: store, where: predicate)
    }
}

extension AnyCopyableCodableStore: Sendable where Object: Sendable {}
