import Bodega

/// The objects of one type in one collection, in any engine.
///
/// Observers are called in the order of the changes. When an operation returns, its observers have been called, unless
/// another thread is calling observers.
protocol ObjectCollection<Object>: AnyObject {
    associatedtype Object: BaseCodableStoreable

    /// The observers of the objects.
    var observers: Observers<Object> { get }

    /// Returns an object, or `nil` if there is none.
    func object(_ identifier: Object.ID) throws -> Object?

    /// Returns all objects, and the errors of the records that cannot be decoded.
    func objects() throws -> FetchedObjects<Object>

    /// Returns the same without the keys, in less time.
    func objectsWithoutKeys() throws -> ObjectsWithoutKeys<Object>

    /// Returns whether an object is stored, even if its record cannot be decoded.
    func contains(_ identifier: Object.ID) throws -> Bool

    /// Saves objects.
    ///
    /// - Returns: One outcome per object, in the same order.
    func save(_ objects: [Object]) -> [Outcome<Object>]

    /// Deletes objects.
    ///
    /// - Returns: One outcome per identifier, in the same order.
    func delete(_ identifiers: [Object.ID]) -> [Outcome<Object>]

    /// Deletes all objects that can be decoded.
    ///
    /// - Returns: One outcome per object.
    func deleteAll() throws -> [Outcome<Object>]

    /// Removes all objects, and what contains them.
    func removeAll() throws

    /// Runs a closure in a transaction of the collection's location. See ``RecordCollection/transaction(_:)``.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value

    /// Opens or creates the file that is needed to observe changes of others, but no collection.
    func prepareToObserve() throws
}

/// The outcome of an operation for one object.
struct Outcome<Object: BaseCodableStoreable> {
    let identifier: Object.ID
    let result: Result<Object, any Error>

    func get() throws -> Object { try result.get() }
}
