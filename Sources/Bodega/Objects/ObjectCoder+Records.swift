package import Foundation

extension ObjectCoder {

    /// Encodes an object for storing it under a key.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` with the key.
    package func encode<Object: Encodable>(_ object: Object, for key: CacheKey) throws(StorageError) -> Data {
        do {
            let data = try encode(object)
            learn(from: CollectionOfOne(object))
            return data
        } catch {
            throw .encodingFailed(Object.self, for: key, cause: error)
        }
    }

    /// Encodes objects for storing them under keys.
    ///
    /// - Returns: For each object in its place, its bytes, or ``StorageError/Code/encodingFailed`` with the key.
    package func encode<Object: Encodable>(
        each objects: some Sequence<Object>,
        for keys: some Sequence<CacheKey>
    ) -> [Result<Data, StorageError>] {
        learn(from: objects)
        var encoded = encode(each: objects)[...]
        return keys.map { key in
            // A coder outside this package may return too few.
            let result = encoded.popFirst() ?? .failure(MissingResult())
            return result.mapError { .encodingFailed(Object.self, for: key, cause: $0) }
        }
    }

    /// Decodes the record of a key.
    ///
    /// - Throws: ``StorageError/Code/decodingFailed`` with the key.
    package func decode<Object: Decodable>(
        _ type: Object.Type,
        from data: Data,
        for key: CacheKey
    ) throws(StorageError) -> Object {
        do {
            return try decode(type, from: data)
        } catch {
            throw .decodingFailed(type, for: key, cause: error)
        }
    }

    /// Decodes records.
    ///
    /// - Parameters:
    ///   - type: The objects' type.
    ///   - records: The records.
    ///   - receive: Is called with the index and the object of each record that could be decoded, in order.
    ///   - failure: Receives the index of each other record, and ``StorageError/Code/decodingFailed`` with the key.
    package func decode<Object: Decodable>(
        _ type: Object.Type,
        fromEach records: ArraySlice<(key: CacheKey, data: Data)>,
        receive: (Int, consuming Object) -> Void,
        failure: (Int, StorageError) -> Void
    ) {
        var index = records.startIndex
        // A coder outside this package may call these too often, or not often enough.
        decode(type, fromEach: records.lazy.map { $0.data }) { object in
            if index < records.endIndex { receive(index, object) }
            index += 1
        } failure: { error in
            if index < records.endIndex {
                failure(index, .decodingFailed(type, for: records[index].key, cause: error))
            }
            index += 1
        }
        while index < records.endIndex {
            failure(index, .decodingFailed(type, for: records[index].key, cause: MissingResult()))
            index += 1
        }
    }
}

/// The error of an object for which a coder returned no result.
private struct MissingResult: Error, CustomStringConvertible {
    var description: String { "The coder returned no result for the object. It must return one for each object." }
}

extension StorageError {
    fileprivate static func encodingFailed(_ type: Any.Type, for key: CacheKey, cause: any Error) -> StorageError {
        StorageError(
            .encodingFailed, "The \(type) could not be encoded. Nothing was stored.", key: key, cause: cause)
    }

    fileprivate static func decodingFailed(_ type: Any.Type, for key: CacheKey, cause: any Error) -> StorageError {
        StorageError(
            .decodingFailed,
            "The record could not be decoded as \(type). It stays stored.",
            key: key,
            cause: cause
        )
    }
}
