/// A custom engine that stores the objects of a ``CodableStore``.
///
/// ```swift
/// class MyEngine<Object: BaseCodableStoreable>: CodableStoreEngine { … }
///
/// let store = CodableStore<User>(engine: .custom(AnyCodableStoreEngine(MyEngine())))
/// ```
///
/// ``AnyCodableStoreEngine`` calls an engine from one thread at a time.
public typealias CodableStoreEngine = ReadableCodableStoreEngine & WriteableCodableStoreEngine

/// The reading half of a ``CodableStoreEngine``.
public protocol ReadableCodableStoreEngine<Object> {

    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Returns an object.
    ///
    /// - Throws: An error if there is no such object, or if it could not be read. To let stores distinguish the two,
    ///   throw a ``/Bodega/StorageError`` with the code ``Bodega/StorageError/Code/notFound`` in the first case.
    func get(identifier: Object.ID) throws -> Object

    /// Returns all objects.
    func getCollection() throws -> [Object]
}

/// The writing half of a ``CodableStoreEngine``.
public protocol WriteableCodableStoreEngine<Object> {

    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Saves an object. It replaces an object with the same identifier.
    ///
    /// - Returns: The saved object.
    @discardableResult
    func save(_ object: Object) throws -> Object

    /// Deletes an object.
    ///
    /// - Returns: The deleted object.
    /// - Throws: An error if there is no such object, or if it could not be deleted.
    @discardableResult
    func delete(identifier: Object.ID) throws -> Object
}
