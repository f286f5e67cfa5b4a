package import Foundation

extension ObjectCoder {

    /// Encodes an object that is to be stored under a key.
    ///
    /// - Throws: ``StorageError/Code/encodingFailed`` with the key.
    package func encode<Object: Encodable>(_ object: Object, for key: CacheKey) throws(StorageError) -> Data {
        do {
            return try encode(object)
        } catch {
            throw StorageError(
                .encodingFailed, "The \(Object.self) could not be encoded; nothing was stored.", key: key, cause: error)
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
            throw StorageError(
                .decodingFailed,
                "The record is not a \(Object.self) that could be decoded. It stays stored.",
                key: key,
                cause: error
            )
        }
    }
}
