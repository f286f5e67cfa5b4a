public import Bodega
import Logging

extension CodableStore {

    /// Finds an object.
    ///
    /// - Parameter identifier: What identifies it.
    /// - Throws: A ``Bodega/StorageError``, with ``Bodega/StorageError/Code/notFound`` if there is none.
    public func get(identifier: Object.ID) throws -> Object {
        guard let object = try collection().object(identifier) else { throw StorageError.notFound(identifier) }
        return object
    }

    /// All objects, in the order in which they were first saved.
    ///
    /// Those that can't be decoded are left out, and logged; ``fetchCollection()`` returns them.
    ///
    /// - Throws: A ``Bodega/StorageError`` if they could not be read.
    public func getCollection() throws -> [Object] {
        let found = try collection().objectsWithoutKeys()
        for error in found.undecodable {
            codableStoreLogger.error("An object could not be decoded.", metadata: ["error": "\(error)"])
        }
        return found.objects
    }

    /// All objects, in the order in which they were first saved, and one error for each that can't be decoded.
    ///
    /// Such an error has the object's key and file. A custom engine reports none.
    ///
    /// - Throws: A ``Bodega/StorageError`` if they could not be read.
    public func fetchCollection() throws -> FetchedObjects<Object> {
        try collection().objects()
    }

    /// The objects that meet a condition.
    ///
    /// - Parameter predicate: The condition.
    /// - Throws: A ``Bodega/StorageError`` if they could not be read, or what the predicate throws.
    public func get(where predicate: (Object) throws -> Bool) throws -> [Object] {
        try getCollection().filter(predicate)
    }

    /// The first object that meets a condition.
    ///
    /// - Parameter predicate: The condition.
    /// - Returns: The object, or `nil` if none meets it.
    /// - Throws: A ``Bodega/StorageError`` if they could not be read, or what the predicate throws.
    public func first(where predicate: (Object) throws -> Bool) throws -> Object? {
        try getCollection().first(where: predicate)
    }

    /// Whether an object is stored.
    ///
    /// A failure to find out looks like absence, and is logged; ``fetchExistence(identifier:)`` throws it.
    ///
    /// - Parameter identifier: What identifies it.
    public func exists(identifier: Object.ID) -> Bool {
        do {
            return try fetchExistence(identifier: identifier)
        } catch {
            codableStoreLogger.error(
                "It is not known whether an object exists; the fetch form would throw.",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }

    /// Whether an object with the identifier of this one is stored.
    ///
    /// A failure to find out looks like absence, and is logged; ``fetchExistence(identifier:)`` throws it.
    ///
    /// - Parameter object: The object.
    public func exists(_ object: Object) -> Bool {
        exists(identifier: object.codableStoreID)
    }

    /// Whether an object is stored, also one that can't be decoded.
    ///
    /// - Parameter identifier: What identifies it.
    /// - Throws: A ``Bodega/StorageError`` if that could not be found out.
    public func fetchExistence(identifier: Object.ID) throws -> Bool {
        try collection().contains(identifier)
    }
}
