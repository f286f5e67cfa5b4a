import Bodega
import Foundation
import RecordCoder

/// Encodes and decodes objects with their type's coder, and reports failures as storage errors.
struct Codec<Object: BaseCodableStoreable> {

    // Accessed again for each operation and thread, so that a type can create coders that need not be thread-safe.
    private let coder = Object.codableStoreCoder

    /// Encodes objects.
    ///
    /// - Returns: For each object in order, its record or an error.
    func encode(_ objects: [Object]) -> [Result<Data, StorageError>] {
        let results: [Result<Data, any Error>] =
            if objects.count > 1, let encoder = coder.encoder as? RecordEncoder {
                // Faster than encoding them one by one.
                encoder.encode(each: objects)
            } else {
                objects.map { object in Result { try coder.encoder.encode(object) } }
            }
        return zip(objects, results).map { object, result in
            result.mapError { error in
                StorageError(
                    .encodingFailed,
                    "The \(Object.self) could not be encoded, so it was not saved.",
                    key: IdentifierText.looseKey(of: object.codableStoreID),
                    cause: error
                )
            }
        }
    }

    /// Decodes a record.
    func decode(_ data: Data, _ key: CacheKey) throws(StorageError) -> Object {
        do {
            return try decode(record: data)
        } catch {
            throw Self.undecodable(key, error)
        }
    }

    private func decode(record: Data) throws -> Object {
        let decoder = coder.decoder
        return try decoder.decode(Object.self, from: decoder is JSONDecoder ? record.withoutBracketAtTheEnd : record)
    }

    /// Decodes records in order, and calls one of the closures for each.
    ///
    /// - Parameters:
    ///   - receive: Called with the decoded object.
    ///   - failure: Called with the decoder's error.
    func decode(
        _ records: some Sequence<Data>,
        receive: (consuming Object) -> Void,
        failure: (any Error) -> Void
    ) {
        if let decoder = coder.decoder as? RecordDecoder {
            // Faster than decoding them one by one.
            return decoder.decode(Object.self, fromEach: records, receive: receive, failure: failure)
        }
        for record in records {
            do { receive(try decode(record: record)) } catch { failure(error) }
        }
    }

    /// Decodes records.
    ///
    /// - Returns: For each record in order, the object, or an error with the key.
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

    /// Returns the error for a record that cannot be decoded.
    static func undecodable(_ key: CacheKey, _ cause: any Error) -> StorageError {
        StorageError(
            .decodingFailed,
            "The record could not be decoded as \(Object.self). It stays stored.",
            key: key,
            cause: cause
        )
    }
}
