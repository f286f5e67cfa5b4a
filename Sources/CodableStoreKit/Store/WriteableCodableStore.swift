/// A store that can be written to.
public protocol WriteableCodableStore<Object> {
    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Saves an object. See ``CodableStore/save(_:)-(Object)``.
    @discardableResult
    func save(_ object: Object) throws -> Object

    /// Saves objects. See ``CodableStore/save(_:)-([Object])``.
    @discardableResult
    func save(_ objects: [Object]) -> [CodableStore<Object>.Result]

    /// Deletes an object. See ``CodableStore/delete(_:)-(Object)``.
    @discardableResult
    func delete(_ object: Object) throws -> Object

    /// Deletes an object. See ``CodableStore/delete(identifier:)``.
    @discardableResult
    func delete(identifier: Object.ID) throws -> Object

    /// Deletes objects. See ``CodableStore/delete(_:)-([Object])``.
    @discardableResult
    func delete(_ objects: [Object]) -> [CodableStore<Object>.Result]

    /// Deletes objects. See ``CodableStore/delete(identifiers:)``.
    @discardableResult
    func delete(identifiers: [Object.ID]) -> [CodableStore<Object>.Result]

    /// Deletes all objects. See ``CodableStore/deleteCollection()``.
    @discardableResult
    func deleteCollection() throws -> [CodableStore<Object>.Result]
}

extension CodableStore: WriteableCodableStore {}

/// A write-only view of a store.
public struct AnyWriteableCodableStore<Object: BaseCodableStoreable>: WriteableCodableStore {
    private let store: CodableStore<Object>

    /// Creates a view of a store.
    ///
    /// - Parameter store: The store.
    public init(_ store: CodableStore<Object>) {
        self.store = store
    }

    @discardableResult
    public func save(_ object: Object) throws -> Object { try store.save(object) }

    @discardableResult
    public func save(_ objects: [Object]) -> [CodableStore<Object>.Result] { store.save(objects) }

    @discardableResult
    public func delete(_ object: Object) throws -> Object { try store.delete(object) }

    @discardableResult
    public func delete(identifier: Object.ID) throws -> Object { try store.delete(identifier: identifier) }

    @discardableResult
    public func delete(_ objects: [Object]) -> [CodableStore<Object>.Result] { store.delete(objects) }

    @discardableResult
    public func delete(identifiers: [Object.ID]) -> [CodableStore<Object>.Result] {
        store.delete(identifiers: identifiers)
    }

    @discardableResult
    public func deleteCollection() throws -> [CodableStore<Object>.Result] { try store.deleteCollection() }
}

extension AnyWriteableCodableStore: Sendable where Object: Sendable {}
