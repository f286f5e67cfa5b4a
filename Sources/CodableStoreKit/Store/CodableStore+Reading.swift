public import Bodega
import Logging

extension CodableStore {

    /// Returns an object.
    ///
    /// - Parameter identifier: The object's identifier.
    /// - Throws: A ``/Bodega/StorageError``, with ``Bodega/StorageError/Code/notFound`` if no such object exists.
    public func get(identifier: Object.ID) throws -> Object {
        guard let object = try collection().object(identifier) else { throw StorageError.notFound(identifier) }
        return object
    }

    /// Returns all objects, in the order in which they were first saved.
    ///
    /// Objects that cannot be decoded are logged and omitted. ``fetchCollection()`` reports them.
    ///
    /// - Throws: A ``/Bodega/StorageError`` if the objects could not be read.
    public func getCollection() throws -> [Object] {
        let found = try collection().objectsWithoutKeys()
        for error in found.undecodable {
            codableStoreLogger.error("An object could not be decoded and was omitted.", metadata: ["error": "\(error)"])
        }
        return found.objects
    }

    /// Returns all objects, in the order of their first saves, and an error for each object that cannot be decoded.
    ///
    /// The errors have the keys and files of the records. For a custom engine, there are no such errors.
    ///
    /// - Throws: A ``/Bodega/StorageError`` if the objects could not be read.
    public func fetchCollection() throws -> FetchedObjects<Object> {
        try collection().objects()
    }

    /// Returns the objects that satisfy a condition. Objects that cannot be decoded are logged and omitted.
    ///
    /// - Parameter predicate: The condition.
    /// - Throws: A ``/Bodega/StorageError`` if the objects could not be read, or the predicate's error.
    public func get(where predicate: (Object) throws -> Bool) throws -> [Object] {
        try getCollection().filter(predicate)
    }

    /// Returns the first object that satisfies a condition, or `nil` if there is none.
    ///
    /// Objects that cannot be decoded are logged and omitted.
    ///
    /// - Parameter predicate: The condition.
    /// - Throws: A ``/Bodega/StorageError`` if the objects could not be read, or the predicate's error.
    public func first(where predicate: (Object) throws -> Bool) throws -> Object? {
        try getCollection().first(where: predicate)
    }

    /// Returns whether an object is stored.
    ///
    /// If an error occurs, it is logged, and this method returns `false`. ``fetchExistence(identifier:)`` throws it.
    ///
    /// - Parameter identifier: The object's identifier.
    public func exists(identifier: Object.ID) -> Bool {
        do {
            return try fetchExistence(identifier: identifier)
        } catch {
            codableStoreLogger.error(
                "Could not determine whether an object exists. fetchExistence(identifier:) throws this error.",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }

    /// Returns whether an object with the same identifier is stored.
    ///
    /// If an error occurs, it is logged, and this method returns `false`. ``fetchExistence(identifier:)`` throws it.
    ///
    /// - Parameter object: An object with the identifier.
    public func exists(_ object: Object) -> Bool {
        exists(identifier: object.codableStoreID)
    }

    /// Returns whether an object is stored, even if it cannot be decoded.
    ///
    /// - Parameter identifier: The object's identifier.
    /// - Throws: A ``/Bodega/StorageError`` if the records could not be read.
    public func fetchExistence(identifier: Object.ID) throws -> Bool {
        try collection().contains(identifier)
    }
}
