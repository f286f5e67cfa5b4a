/// What keeps objects for a ``CodableStore``, for media that the store does not know.
///
/// ```swift
/// class MyEngine<Object: BaseCodableStoreable>: CodableStoreEngine { … }
///
/// let store = CodableStore<User>(engine: .custom(AnyCodableStoreEngine(MyEngine())))
/// ```
///
/// An engine that is used through ``AnyCodableStoreEngine`` is never called by two threads at once.
public typealias CodableStoreEngine = ReadableCodableStoreEngine & WriteableCodableStoreEngine

/// The half of a ``CodableStoreEngine`` that reads.
public protocol ReadableCodableStoreEngine<Object> {

    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Finds an object.
    ///
    /// - Throws: An error if there is none or it could not be read. If it is a ``Bodega/StorageError`` with
    ///   ``Bodega/StorageError/Code/notFound``, stores can tell the two apart.
    func get(identifier: Object.ID) throws -> Object

    /// All objects.
    func getCollection() throws -> [Object]
}

/// The half of a ``CodableStoreEngine`` that writes.
public protocol WriteableCodableStoreEngine<Object> {

    /// The type of the objects.
    associatedtype Object: BaseCodableStoreable

    /// Saves an object, in place of the one with its identifier if there is one.
    ///
    /// - Returns: The object.
    @discardableResult
    func save(_ object: Object) throws -> Object

    /// Deletes an object.
    ///
    /// - Returns: The object.
    /// - Throws: An error if there is none or it could not be deleted.
    @discardableResult
    func delete(identifier: Object.ID) throws -> Object
}
