import Bodega
import Foundation
import RecordCoder

/// The stored form of a value: a JSON object with the member `value`, because some JSON readers reject fragments.
struct StoredEnvelope<Value: Codable>: Codable {
    var value: Value

    private enum CodingKeys: String, CodingKey {
        case value
    }

    init(value: Value) {
        self.value = value
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // Some encoders omit nil.
        if let absent = (Value.self as? any ExpressibleByNilLiteral.Type)?.absent as? Value,
            !container.contains(.value)
        {
            value = absent
        } else {
            value = try container.decode(Value.self, forKey: .value)
        }
    }
}

extension ExpressibleByNilLiteral {
    fileprivate static var absent: Self { nil }
}

extension StoredEnvelope {

    /// Encodes a value.
    ///
    /// - Throws: A ``StorageError`` with the code `encodingFailed`.
    static func encode(_ value: Value, _ key: String) throws(StorageError) -> Data {
        do {
            return try RecordEncoder().encode(StoredEnvelope(value: value))
        } catch {
            throw StorageError(
                .encodingFailed,
                "The \(Value.self) could not be encoded. The previous value is unchanged.",
                key: CacheKey(verbatim: key),
                cause: error
            )
        }
    }

    /// Decodes stored bytes.
    ///
    /// - Throws: A ``StorageError`` with the code `decodingFailed`.
    static func decode(_ data: Data, _ key: String) throws(StorageError) -> Value {
        do {
            return try RecordDecoder().decode(StoredEnvelope.self, from: data).value
        } catch {
            throw StorageError(
                .decodingFailed,
                "The stored bytes could not be decoded as \(Value.self). They are kept.",
                key: CacheKey(verbatim: key),
                cause: error
            )
        }
    }
}
