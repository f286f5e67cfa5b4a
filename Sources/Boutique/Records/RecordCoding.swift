import Bodega
import Foundation

/// The conversion between a store's items and its records: keys, bytes, and the migration of shapes.
struct RecordCoding<Item: StorableItem>: @unchecked Sendable {
    // @unchecked because of the key path. It is immutable and safe to share if it captures nothing, or only values that
    // are Sendable, as literal key paths do. The public interface, which must match Boutique's, can't express that.

    /// The key path of an item's identifier.
    let identifier: KeyPath<Item, String>
    /// The coder of the items.
    let coder: any ObjectCoder
    /// The shapes of the items, if records have versions.
    let migration: ItemMigration<Item>?

    /// Returns the key under which an item is stored.
    func key(of item: Item) -> CacheKey {
        CacheKey(item[keyPath: identifier])
    }

    /// Encodes items.
    ///
    /// - Returns: For each item in order, its key, and its bytes or a `StorageError` with the key.
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
    ///   - receive: Called for each decoded record with its index, the item, the item's own key, and whether the record
    ///     has an older shape.
    ///   - failure: Called for each other record with its index and an error that has the key and the code
    ///     `StorageError.Code.decodingFailed`. The calls of both closures are in the order of the records.
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

    /// Returns the own key of the item in a record, or the error if the record can't be decoded.
    func itemKey(in data: Data, under record: CacheKey) -> Result<CacheKey, StorageError> {
        var found: Result<CacheKey, StorageError>?
        decode([(record, data)]) { _, _, key, _ in
            found = .success(key)
        } failure: { _, error in
            found = .failure(error)
        }
        return found
            ?? .failure(StorageError(.decodingFailed, "The coder returned neither an item nor an error.", key: record))
    }
}
