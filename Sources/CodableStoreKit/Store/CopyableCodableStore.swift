/// A store whose objects can be copied elsewhere.
public protocol CopyableCodableStore<Object> {
    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Copies objects into another container, as ``CodableStore/copy(toContainer:engine:where:)``.
    @discardableResult
    func copy(
        toContainer container: CodableStoreContainer,
        engine: CodableStore<Object>.Engine?,
        where predicate: ((Object) -> Bool)?
    ) throws -> [CodableStore<Object>.Result]

    /// Copies objects into another store, as ``CodableStore/copy(toStore:where:)``.
    @discardableResult
    func copy(
        toStore store: CodableStore<Object>,
        where predicate: ((Object) -> Bool)?
    ) throws -> [CodableStore<Object>.Result]
}

extension CodableStore: CopyableCodableStore {}

/// A view of a store that only copies.
public struct AnyCopyableCodableStore<Object: BaseCodableStoreable>: CopyableCodableStore {
    private let store: CodableStore<Object>

    /// Narrows a store.
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
