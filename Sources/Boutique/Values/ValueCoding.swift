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
        ValueCoding(encode: StoredEnvelope.encode, decode: StoredEnvelope.decode)
    }

    /// JSON in an envelope, no bytes for `nil`, and errors without causes, because those of Foundation quote values.
    static func secret<Item: StorableItem>() -> ValueCoding where Value == Item? {
        ValueCoding { value, key throws(StorageError) in
            guard let value else { return nil }
            return try withoutCauses { () throws(StorageError) in try StoredEnvelope.encode(value, key) }
        } decode: { data, key throws(StorageError) in
            try withoutCauses { () throws(StorageError) in try StoredEnvelope.decode(data, key) }
        }
    }

    private static func withoutCauses<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result
    {
        do throws(StorageError) {
            return try body()
        } catch var error {
            error.cause = nil
            throw error
        }
    }
}
