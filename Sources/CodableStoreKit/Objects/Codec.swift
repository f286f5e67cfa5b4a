import Bodega
import Foundation
import RecordCoder

/// Encodes and decodes objects with their type's coder, and says in storage errors what failed.
struct Codec<Object: BaseCodableStoreable> {

    // Taken anew for each operation and each thread, so that a coder that can't bear many threads can be made anew for each.
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

    /// Decodes records, one after the other.
    ///
    /// - Parameters:
    ///   - receive: For each record in order, either this is called with the object,
    ///   - failure: or this with what the decoder has thrown.
    func decode(
        _ records: some Sequence<Data>,
        receive: (consuming Object) -> Void,
        failure: (any Error) -> Void
    ) {
        if let decoder = coder.decoder as? RecordDecoder {
            // Many at once take less time than one after the other.
            return decoder.decode(Object.self, fromEach: records, receive: receive, failure: failure)
        }
        for record in records {
            do { receive(try coder.decoder.decode(Object.self, from: record)) } catch { failure(error) }
        }
    }

    /// Decodes records.
    ///
    /// - Returns: For each record in its place, the object, or a ``Bodega/StorageError`` with the key.
    func decode(_ items: [(key: CacheKey, data: Data)]) -> [Result<Object, StorageError>] {
        var results: [Result<Object, StorageError>] = []
        results.reserveCapacity(items.count)
        decode(items.lazy.map(\.data)) { object in
            results.append(.success(object))
        } failure: { error in
            results.append(.failure(Self.undecodable(items[results.count].key, error)))
        }
        return results
    }

    /// What to throw for a record that can't be decoded.
    static func undecodable(_ key: CacheKey, _ cause: any Error) -> StorageError {
        StorageError(
            .decodingFailed,
            "The record is not a \(Object.self) that could be decoded. It stays stored.",
            key: key,
            cause: cause
        )
    }
}
