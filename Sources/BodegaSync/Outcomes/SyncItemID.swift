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

    /// Hashes the key only, because hardly any two collections have items with the same key.
    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension [SyncItemID] {
    /// The items of each collection, in order.
    var byCollection: [(name: String, items: [SyncItemID])] {
        var (parts, places): ([(name: String, items: [SyncItemID])], [ExactText: Int]) = ([], [:])
        var last = 0
        for item in self {
            // Most items follow another one of the same collection.
            if !parts.indices.contains(last) || !parts[last].name.hasSameBytes(as: item.collection) {
                let name = ExactText(item.collection)
                last = places[name] ?? parts.count
                if last == parts.count {
                    places[name] = last
                    parts.append((item.collection, []))
                }
            }
            parts[last].items.append(item)
        }
        return parts
    }
}
