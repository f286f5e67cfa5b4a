/// The objects that a fetch found, and the errors of the records that could not be decoded.
///
/// A record that cannot be decoded or decrypted stays stored and does not affect the others.
public struct FetchedObjects<Object> {

    /// The objects with their keys, in the order that the fetch documents.
    public var objectsAndKeys: [(key: CacheKey, object: Object)] = []

    /// One error for each record that could not be decoded, with the record's ``StorageError/key`` and the decoder's
    /// error as its ``StorageError/cause``. For records that the engine could not read, the engine's errors follow,
    /// such as ``StorageError/Code/decryptionFailed``.
    public var undecodable: [StorageError] = []

    package init(objectsAndKeys: [(key: CacheKey, object: Object)] = [], undecodable: [StorageError] = []) {
        self.objectsAndKeys = objectsAndKeys
        self.undecodable = undecodable
    }

    /// The objects without their keys.
    public var objects: [Object] { objectsAndKeys.map { $0.object } }
}

extension FetchedObjects: Sendable where Object: Sendable {}
