public import Bodega

/// A store that can be read.
public protocol ReadableCodableStore<Object> {
    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Returns an object. See ``CodableStore/get(identifier:)``.
    func get(identifier: Object.ID) throws -> Object

    /// Returns all objects. See ``CodableStore/getCollection()``.
    func getCollection() throws -> [Object]

    /// Returns all objects, and the errors of those that cannot be decoded. See ``CodableStore/fetchCollection()``.
    func fetchCollection() throws -> FetchedObjects<Object>

    /// Returns the objects that satisfy a condition. See ``CodableStore/get(where:)``.
    func get(where predicate: (Object) throws -> Bool) throws -> [Object]

    /// Returns the first object that satisfies a condition. See ``CodableStore/first(where:)``.
    func first(where predicate: (Object) throws -> Bool) throws -> Object?

    /// Returns whether an object is stored. See ``CodableStore/exists(identifier:)``.
    func exists(identifier: Object.ID) -> Bool

    /// Returns whether an object is stored. See ``CodableStore/exists(_:)``.
    func exists(_ object: Object) -> Bool

    /// Returns whether an object is stored. See ``CodableStore/fetchExistence(identifier:)``.
    func fetchExistence(identifier: Object.ID) throws -> Bool
}

extension CodableStore: ReadableCodableStore {}

/// A read-only view of a store.
public struct AnyReadableCodableStore<Object: BaseCodableStoreable>: ReadableCodableStore {
    private let store: CodableStore<Object>

    /// Creates a view of a store.
    ///
    /// - Parameter store: The store.
    public init(_ store: CodableStore<Object>) {
        self.store = store
    }

    public func get(identifier: Object.ID) throws -> Object { try store.get(identifier: identifier) }
    public func getCollection() throws -> [Object] { try store.getCollection() }
    public func fetchCollection() throws -> FetchedObjects<Object> { try store.fetchCollection() }
    public func get(where predicate: (Object) throws -> Bool) throws -> [Object] { try store.get(where: predicate) }
    public func first(where predicate: (Object) throws -> Bool) throws -> Object? { try store.first(where: predicate) }
    public func exists(identifier: Object.ID) -> Bool { store.exists(identifier: identifier) }
    public func exists(_ object: Object) -> Bool { store.exists(object) }
    public func fetchExistence(identifier: Object.ID) throws -> Bool {
        try store.fetchExistence(identifier: identifier)
    }
}

extension AnyReadableCodableStore: Sendable where Object: Sendable {}
