/// The objects that a fetch found, and the records that could not be decoded.
///
/// A record that cannot be decoded stays stored and takes no other with it.
public struct FetchedObjects<Object> {

    /// The objects with their keys, in the order that the fetch promises.
    public var objectsAndKeys: [(key: CacheKey, object: Object)] = []

    /// One error for each record that could not be decoded, with the record's ``StorageError/key`` and, as
    /// ``StorageError/cause``, what the decoder said.
    public var undecodable: [StorageError] = []

    package init(objectsAndKeys: [(key: CacheKey, object: Object)] = [], undecodable: [StorageError] = []) {
        self.objectsAndKeys = objectsAndKeys
        self.undecodable = undecodable
    }

    /// The objects without their keys.
    public var objects: [Object] { objectsAndKeys.map(\.object) }
}

extension FetchedObjects: Sendable where Object: Sendable {}
