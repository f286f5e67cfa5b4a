import Bodega
import Foundation
import RecordCoder

/// What is stored for a value: an object with the member `value`, because not every JSON reader takes a bare one.
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
        // Some encoders leave a nil out.
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

    /// The bytes to store for a value.
    ///
    /// - Throws: A ``StorageError`` with the code `encodingFailed`.
    static func encode(_ value: Value, key: String) throws(StorageError) -> Data {
        do {
            return try RecordEncoder().encode(StoredEnvelope(value: value))
        } catch {
            throw StorageError(
                .encodingFailed,
                "The \(Value.self) could not be encoded; the previous value stays stored.",
                key: CacheKey(verbatim: key),
                cause: error
            )
        }
    }

    /// The value in stored bytes.
    ///
    /// - Throws: A ``StorageError`` with the code `decodingFailed`.
    static func decode(_ data: Data, key: String) throws(StorageError) -> Value {
        do {
            return try RecordDecoder().decode(StoredEnvelope.self, from: data).value
        } catch {
            throw StorageError(
                .decodingFailed,
                "What is stored is not a \(Value.self) that could be decoded. It is kept.",
                key: CacheKey(verbatim: key),
                cause: error
            )
        }
    }
}
