package import Bodega

/// Names an item of one of the collections that are synchronized.
package struct SyncItemID: Hashable, Sendable, Codable {
    /// The name of the collection, the same in the local and in the remote database.
    package let collection: String
    /// The item's key.
    package let key: CacheKey

    /// Creates a name.
    package init(collection: String, key: CacheKey) { (self.collection, self.key) = (collection, key) }

    /// Compares the names of the collections byte by byte.
    package static func == (left: SyncItemID, right: SyncItemID) -> Bool {
        left.key == right.key && left.collection.hasSameBytes(as: right.collection)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(ExactText(collection))
    }
}
