import Bodega
import Foundation

/// Encodes and decodes the value of a ``ValueCore``.
struct ValueCoding<Value: StorableItem>: Sendable {
    /// Encodes a value; `nil` to store no bytes.
    var encode: @Sendable (_ value: Value, _ key: String) throws(StorageError) -> Data?

    /// Decodes stored bytes.
    var decode: @Sendable (_ data: Data, _ key: String) throws(StorageError) -> Value

    /// JSON in an envelope, including `nil`.
    static var envelope: ValueCoding {
        ValueCoding { value, key throws(StorageError) in
            try StoredEnvelope.encode(value, key: key)
        } decode: { data, key throws(StorageError) in
            try StoredEnvelope.decode(data, key: key)
        }
    }

    /// JSON in an envelope, no bytes for `nil`, and errors without causes, because those of Foundation's coders quote values.
    static func secret<Item: StorableItem>() -> ValueCoding where Value == Item? {
        ValueCoding { value, key throws(StorageError) in
            guard let value else { return nil }
            do throws(StorageError) {
                return try StoredEnvelope.encode(value, key: key)
            } catch {
                throw error.withoutCause
            }
        } decode: { data, key throws(StorageError) in
            do throws(StorageError) {
                return try StoredEnvelope.decode(data, key: key)
            } catch {
                throw error.withoutCause
            }
        }
    }
}

extension StorageError {
    fileprivate var withoutCause: StorageError {
        var error = self
        error.cause = nil
        return error
    }
}
