package import Foundation

extension ObjectCoder {

    /// Encodes an object that is to be stored under a key.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` with the key.
    package func encode<Object: Encodable>(_ object: Object, for key: CacheKey) throws(StorageError) -> Data {
        do {
            return try encode(object)
        } catch {
            throw .encodingFailed(Object.self, for: key, cause: error)
        }
    }

    /// Encodes objects that are to be stored under keys.
    ///
    /// - Returns: For each object in its place, its bytes, or ``StorageError/Code/encodingFailed`` with the key.
    package func encode<Object: Encodable>(
        each objects: some Sequence<Object>,
        for keys: some Sequence<CacheKey>
    ) -> [Result<Data, StorageError>] {
        var encoded = encode(each: objects)[...]
        return keys.map { key in
            // A coder of somebody else's may return too few.
            let result = encoded.popFirst() ?? .failure(MissingResult())
            return result.mapError { .encodingFailed(Object.self, for: key, cause: $0) }
        }
    }

    /// Decodes what is stored under a key.
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
    ///   - receive: For each record in order, either this is called with its index and the object,
    ///   - failure: or this with its index, and with ``StorageError/Code/decodingFailed`` and the key.
    package func decode<Object: Decodable>(
        _ type: Object.Type,
        fromEach records: ArraySlice<(key: CacheKey, data: Data)>,
        receive: (Int, consuming Object) -> Void,
        failure: (Int, StorageError) -> Void
    ) {
        var index = records.startIndex
        // A coder of somebody else's may call these too often, or not often enough.
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

/// A coder has not said what became of an object.
private struct MissingResult: Error, CustomStringConvertible {
    var description: String { "The coder returned fewer results than it was given objects." }
}

extension StorageError {
    fileprivate static func encodingFailed(_ type: Any.Type, for key: CacheKey, cause: any Error) -> StorageError {
        StorageError(
            .encodingFailed, "The \(type) could not be encoded; nothing was stored.", key: key, cause: cause)
    }

    fileprivate static func decodingFailed(_ type: Any.Type, for key: CacheKey, cause: any Error) -> StorageError {
        StorageError(
            .decodingFailed,
            "The record is not a \(type) that could be decoded. It stays stored.",
            key: key,
            cause: cause
        )
    }
}
