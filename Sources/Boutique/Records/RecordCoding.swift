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

    /// Encodes items.
    ///
    /// - Returns: For each item in its place, its key, and its bytes or a `StorageError` with the key.
    func encode(_ items: ArraySlice<Item>) -> [(key: CacheKey, data: Result<Data, StorageError>)] {
        let keys = items.map { key(of: $0) }
        let encoded =
            if let version = history?.currentVersion {
                coder.encode(each: items.lazy.map { VersionedRecord(version: version, item: $0) }, for: keys)
            } else {
                coder.encode(each: items, for: keys)
            }
        return zip(keys, encoded).map { ($0, $1) }
    }

    /// Decodes records.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - receive: Called for each record in order, with its index.
    func decode(
        _ records: ArraySlice<(key: CacheKey, data: Data)>,
        _ receive: (Int, consuming DecodedRecord<Item>) -> Void
    ) {
        guard let history else {
            return coder.decode(Item.self, fromEach: records) { index, item in
                receive(index, .item(item, belongsUnder: key(of: item), isOld: false))
            } failure: { index, error in
                receive(index, .undecodable(error))
            }
        }
        history.whileDecoding {
            coder.decode(RecordOfAnyVersion<Item>.self, fromEach: records) { index, record in
                let isOld = record.version != history.currentVersion
                receive(index, .item(record.item, belongsUnder: key(of: record.item), isOld: isOld))
            } failure: { index, error in
                receive(index, .undecodable(error))
            }
        }
    }

    /// The item in a record, or `nil` if it can't be decoded.
    func item(in data: Data, under record: CacheKey) -> Item? {
        var found: Item?
        decode([(record, data)]) { _, decoded in
            if case .item(let item, _, _) = decoded { found = item }
        }
        return found
    }
}
