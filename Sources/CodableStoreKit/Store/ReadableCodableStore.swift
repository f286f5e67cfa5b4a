public import Bodega

/// A store that can be read.
public protocol ReadableCodableStore<Object> {
    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Finds an object, as ``CodableStore/get(identifier:)``.
    func get(identifier: Object.ID) throws -> Object

    /// All objects, as ``CodableStore/getCollection()``.
    func getCollection() throws -> [Object]

    /// All objects and the undecodable ones, as ``CodableStore/fetchCollection()``.
    func fetchCollection() throws -> FetchedObjects<Object>

    /// The objects that meet a condition, as ``CodableStore/get(where:)``.
    func get(where predicate: (Object) throws -> Bool) throws -> [Object]

    /// The first object that meets a condition, as ``CodableStore/first(where:)``.
    func first(where predicate: (Object) throws -> Bool) throws -> Object?

    /// Whether an object is stored, as ``CodableStore/exists(identifier:)``.
    func exists(identifier: Object.ID) -> Bool

    /// Whether an object is stored, as ``CodableStore/exists(_:)``.
    func exists(_ object: Object) -> Bool

    /// Whether an object is stored, as ``CodableStore/fetchExistence(identifier:)``.
    func fetchExistence(identifier: Object.ID) throws -> Bool
}

extension CodableStore: ReadableCodableStore {}

/// A view of a store that only reads.
public struct AnyReadableCodableStore<Object: BaseCodableStoreable>: ReadableCodableStore {
    private let store: CodableStore<Object>

    /// Narrows a store.
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
