import Bodega
import Foundation

/// How a store's items become records and back: their keys, their bytes, and the migration of their shapes.
struct RecordCoding<Item: StorableItem>: @unchecked Sendable {
    // @unchecked because of the key path. One that captures nothing, or values that are themselves safe to share, as
    // literal key paths do, is immutable; the compiler just doesn't say so in the interface that must be matched.

    /// What identifies an item.
    let identifier: KeyPath<Item, String>
    /// How an item becomes bytes.
    let coder: any ObjectCoder
    /// The shapes that items had, if they are told apart.
    let migration: ItemMigration<Item>?

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
            if let version = migration?.currentVersion {
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
    ///   - receive: For each record in order, either this is called with its index, the item, the key that the item belongs
    ///     under, and whether the record has an older shape,
    ///   - failure: or this with its index, and with `StorageError.Code.decodingFailed` and the key.
    func decode(
        _ records: ArraySlice<(key: CacheKey, data: Data)>,
        receive: (Int, consuming Item, CacheKey, Bool) -> Void,
        failure: (Int, StorageError) -> Void
    ) {
        guard let migration else {
            return coder.decode(Item.self, fromEach: records) { index, item in
                let key = key(of: item)
                receive(index, item, key, false)
            } failure: { index, error in
                failure(index, error)
            }
        }
        migration.whileDecoding {
            coder.decode(RecordOfAnyVersion<Item>.self, fromEach: records) { index, record in
                receive(index, record.item, key(of: record.item), record.version != migration.currentVersion)
            } failure: { index, error in
                failure(index, error)
            }
        }
    }

    /// The key that the item in a record belongs under, or why the record can't be decoded.
    func itemKey(in data: Data, under record: CacheKey) -> Result<CacheKey, StorageError> {
        var found: Result<CacheKey, StorageError>?
        decode([(record, data)]) { _, _, key, _ in
            found = .success(key)
        } failure: { _, error in
            found = .failure(error)
        }
        return found ?? .failure(StorageError(.decodingFailed, "The coder returned no result.", key: record))
    }

    /// The item in a record, or `nil` if it can't be decoded.
    func item(in data: Data, under record: CacheKey) -> Item? {
        var found: Item?
        decode([(record, data)]) { _, item, _, _ in
            found = item
        } failure: { _, _ in
            // Told by the result.
        }
        return found
    }
}
