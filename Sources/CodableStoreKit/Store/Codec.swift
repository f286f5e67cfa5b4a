import Bodega
import Foundation
import RecordCoder

/// Encodes and decodes objects with their type's coder, and says in storage errors what failed.
struct Codec<Object: BaseCodableStoreable> {

    // Taken anew for each operation, so that a coder that can't bear many threads can be made anew for each.
    private let coder = Object.codableStoreCoder

    /// Encodes objects.
    ///
    /// - Returns: For each object in its place, its bytes, or a ``Bodega/StorageError``.
    func encode(_ objects: [Object]) -> [Result<Data, StorageError>] {
        let results: [Result<Data, any Error>] =
            if objects.count > 1, let encoder = coder.encoder as? RecordEncoder {
                // Many at once take less time than one after the other.
                encoder.encode(each: objects)
            } else {
                objects.map { object in Result { try coder.encoder.encode(object) } }
            }
        return zip(objects, results).map { object, result in
            result.mapError { error in
                StorageError(
                    .encodingFailed,
                    "The \(Object.self) could not be encoded; nothing was saved.",
                    key: IdentifierText.looseKey(of: object.codableStoreID),
                    cause: error
                )
            }
        }
    }

    /// Decodes a record.
    func decode(_ data: Data, _ key: CacheKey) throws(StorageError) -> Object {
        do {
            return try coder.decoder.decode(Object.self, from: data)
        } catch {
            throw Self.undecodable(key, error)
        }
    }

    /// Decodes records.
    ///
    /// - Returns: For each record in its place, the object, or a ``Bodega/StorageError`` with the key.
    func decode(_ items: [(key: CacheKey, data: Data)]) -> [Result<Object, StorageError>] {
        let results: [Result<Object, any Error>] =
            if let decoder = coder.decoder as? RecordDecoder {
                decoder.decode(Object.self, fromEach: items.lazy.map(\.data))
            } else {
                items.map { item in Result { try coder.decoder.decode(Object.self, from: item.data) } }
            }
        return zip(items, results).map { item, result in result.mapError { Self.undecodable(item.key, $0) } }
    }

    private static func undecodable(_ key: CacheKey, _ cause: any Error) -> StorageError {
        StorageError(
            .decodingFailed,
            "The record is not a \(Object.self) that could be decoded. It stays stored.",
            key: key,
            cause: cause
        )
    }
}
