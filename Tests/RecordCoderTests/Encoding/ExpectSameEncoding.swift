import Foundation
import RecordCoder
import Testing

/// Expects that `RecordEncoder` encodes a value as Foundation's encoder does: JSON that is equal, except for the order
/// of keys and the spelling of strings and numbers, or an error with the same description.
///
/// It encodes the value alone, twice, and in a batch, and checks which of the two encoders wrote the JSON.
///
/// - Returns: Our JSON; `nil` if there was an error.
@discardableResult
func expectSameEncoding(
    _ value: some Encodable,
    by author: Author? = .us,
    userInfo: [CodingUserInfoKey: any Sendable] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
) -> String? {
    let ours = RecordEncoder(userInfo: userInfo)
    let foundations = JSONEncoder()
    foundations.userInfo = userInfo
    let expected = EncodingOutcome(Result { try foundations.encode(value) })
    let results = [Result { try ours.encode(value) }, Result { try ours.encode(value) }] + ours.encode(each: [value])
    for result in results {
        #expect(EncodingOutcome(result) == expected, sourceLocation: sourceLocation)
    }
    guard case .success(let data) = results[0] else { return nil }
    if let author, let marked = try? ours.encode(Marked(value: value)) {
        // Only Foundation escapes slashes.
        let isOurs = marked.starts(with: Data(#"["/","#.utf8))
        #expect((isOurs ? Author.us : .foundation) == author, sourceLocation: sourceLocation)
    }
    return String(decoding: data, as: UTF8.self)
}

/// The encoder that wrote some JSON.
enum Author {
    case us, foundation
}

/// A value after a marker.
private struct Marked<Value: Encodable>: Encodable {
    var value: Value

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode("/")
        try container.encode(value)
    }
}

/// Expects the same, and that Foundation decodes our JSON to an equal value.
func expectRoundTrip<Value: Codable & Equatable>(
    _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    expectSameEncoding(value, sourceLocation: sourceLocation)
    let json = try RecordEncoder().encode(value)
    let decoded = try JSONDecoder().decode(Value.self, from: json)
    #expect(decoded == value, sourceLocation: sourceLocation)
}

/// The result of encoding, in a comparable form.
private enum EncodingOutcome: Equatable {
    case json(JSONTree)
    /// Bytes that are not JSON.
    case bytes(Data)
    case error(String)

    init(_ result: Result<Data, any Error>) {
        switch result {
        case .failure(let error): self = .error("\(type(of: error)): \(error)")
        case .success(let data):
            do {
                self = .json(try JSONDecoder().decode(JSONTree.self, from: data))
            } catch {
                self = .bytes(data)
            }
        }
    }
}

/// Any JSON, with numbers compared bit by bit.
private indirect enum JSONTree: Decodable, Equatable {
    case null
    case bool(Bool)
    case string(String)
    case signed(Int64)
    case unsigned(UInt64)
    case number(UInt64)
    case array([JSONTree])
    case object([String: JSONTree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Double.self) {
            if let integer = try? container.decode(Int64.self), integer != 0 {
                self = .signed(integer)
            } else if let integer = try? container.decode(UInt64.self), integer != 0 {
                self = .unsigned(integer)
            } else {
                self = .number(value.bitPattern)
            }
        } else if let values = try? container.decode([JSONTree].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
        }
    }
}

/// A value that encodes itself with a test's closure.
struct Custom: Encodable, @unchecked Sendable {
    // @unchecked because only tests with stateless closures pass it to other threads.
    let body: (any Encoder) throws -> Void

    init(_ body: @escaping (any Encoder) throws -> Void) {
        self.body = body
    }

    func encode(to encoder: any Encoder) throws {
        try body(encoder)
    }
}

/// Any key.
struct AnyKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = Int(stringValue)
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }

    init(stringLiteral value: String) {
        self.init(stringValue: value)
    }
}

/// A few keys.
enum Letter: String, CodingKey {
    case a, b, c, `super`
}
