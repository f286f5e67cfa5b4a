import Bodega
import Foundation

/// How a ``ValueCore`` makes bytes of a value and a value of bytes.
struct ValueCoding<Value: StorableItem>: Sendable {
    /// Makes the bytes to store for a value, `nil` to store none.
    var encode: @Sendable (_ value: Value, _ key: String) throws(StorageError) -> Data?

    /// Makes the value of stored bytes.
    var decode: @Sendable (_ data: Data, _ key: String) throws(StorageError) -> Value

    /// All values as JSON in an envelope.
    static var envelope: ValueCoding {
        ValueCoding { value, key throws(StorageError) in
            try StoredEnvelope.encode(value, key: key)
        } decode: { data, key throws(StorageError) in
            try StoredEnvelope.decode(data, key: key)
        }
    }

    /// JSON in an envelope, nothing for `nil`, and no causes in errors: those of Foundation's coders quote values.
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
