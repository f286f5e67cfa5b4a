import Bodega
import Foundation

/// How a store's items become records and back: their keys, their bytes, and the history of their shapes.
struct RecordCoding<Item: StorableItem>: @unchecked Sendable {
    // @unchecked because of the key path. One that captures nothing, or values that are themselves safe to share, as
    // literal key paths do, is immutable; the compiler just doesn't say so in the interface that must be matched.

    /// What identifies an item.
    let identifier: KeyPath<Item, String>
    /// How an item becomes bytes.
    let coder: any ObjectCoder
    /// The shapes that items had, if they are told apart.
    let history: ItemHistory<Item>?

    /// The key that an item is stored under.
    func key(of item: Item) -> CacheKey {
        CacheKey(item[keyPath: identifier])
    }

    /// Encodes an item.
    ///
    /// - Throws: A `StorageError` with the key.
    func encode(_ item: Item, for key: CacheKey) throws(StorageError) -> Data {
        guard let history else { return try coder.encode(item, for: key) }
        return try coder.encode(VersionedRecord(version: history.currentVersion, item: item), for: key)
    }

    /// Decodes a record.
    ///
    /// - Returns: The item, and whether its record has an older shape.
    /// - Throws: A `StorageError` with the key.
    func decode(_ data: Data, for key: CacheKey) throws(StorageError) -> (item: Item, isOld: Bool) {
        guard let history else { return (try coder.decode(Item.self, from: data, for: key), false) }
        let result = history.whileDecoding {
            // A typed error does not pass through the closure.
            Result { () throws(StorageError) in
                try coder.decode(RecordOfAnyVersion<Item>.self, from: data, for: key)
            }
        }
        let record = try result.get()
        return (record.item, record.version != history.currentVersion)
    }
}
