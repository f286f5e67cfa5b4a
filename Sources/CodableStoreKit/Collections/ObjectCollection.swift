import Bodega

/// The objects of one type in one collection, whatever keeps them.
///
/// The observers are told of each change in the order of the changes, and have been called when an operation returns,
/// unless another thread is calling them.
protocol ObjectCollection<Object>: AnyObject {
    associatedtype Object: BaseCodableStoreable

    /// Who is told of changes.
    var observers: Observers<Object> { get }

    /// An object, or `nil` if there is none.
    func object(_ identifier: Object.ID) throws -> Object?

    /// All objects, and those that can't be decoded.
    func objects() throws -> FetchedObjects<Object>

    /// The same for those who don't ask for the keys, in less time.
    func objectsWithoutKeys() throws -> ObjectsWithoutKeys<Object>

    /// Whether there is an object, also one that can't be decoded.
    func contains(_ identifier: Object.ID) throws -> Bool

    /// Saves objects.
    ///
    /// - Returns: One outcome for each object, in its place.
    func save(_ objects: [Object]) -> [Outcome<Object>]

    /// Deletes objects.
    ///
    /// - Returns: One outcome for each identifier, in its place.
    func delete(_ identifiers: [Object.ID]) -> [Outcome<Object>]

    /// Deletes all objects that can be decoded.
    ///
    /// - Returns: One outcome for each object.
    func deleteAll() throws -> [Outcome<Object>]
}

/// What became of one object of an operation.
struct Outcome<Object: BaseCodableStoreable> {
    let identifier: Object.ID
    let result: Result<Object, any Error>

    func get() throws -> Object { try result.get() }
}
