import Foundation
import RecordCoder

/// A type from whose documents values are decoded.
struct Target {

    /// The outcome of a comparison.
    enum Outcome {
        case same(hasValue: Bool)
        case different(Oracle.Difference)
    }

    /// Decodes a document with both decoders, and encodes the value with both encoders.
    let compare: (Data) -> Outcome

    init<Value: Codable>(_ type: Value.Type) {
        let (oracle, encoder, decoder) = (Oracle(), JSONEncoder(), JSONDecoder())
        compare = { json in
            let value = oracle.foundationsDecoding(of: type, from: json)
            let ours = oracle.ourDecoding(of: type, from: json)
            if !areSpelledAlike(ours, value) {
                let description = exactDescription(of: value)
                if let difference = oracle.difference(between: ours, and: description, decoding: type, from: json) {
                    return .different(difference)
                }
            }
            guard case .success(let value) = value else { return .same(hasValue: false) }
            // The value after encoding and decoding, which may differ from the original.
            let foundations = Result { try decoder.decode(type, from: encoder.encode(value)) }
            let encoded = Result { try decoder.decode(type, from: RecordEncoder().encode(value)) }
            if areSpelledAlike(encoded, foundations) { return .same(hasValue: true) }
            let (one, other) = (exactDescription(of: encoded), exactDescription(of: foundations))
            if one == other { return .same(hasValue: true) }
            return .different(Oracle.Difference(type: "\(type), encoded", json: json, ours: one, foundations: other))
        }
    }

    /// The types that are decoded from every document.
    static func all() -> [Target] {
        [
            Target(Ten.self), Target([Ten].self), Target(Tree.self), Target(JSONValue.self), Target([Double].self),
            Target([Int].self), Target([String: [Int]?].self), Target(String.self), Target([String].self),
            Target(Decimal.self),
            Target([Decimal].self), Target(Double.self), Target([Float?].self), Target([UInt8].self),
            Target([String: String].self),
            Target([Letter: Bool].self), Target([URL].self), Target([UUID].self), Target([Date?].self),
            Target([Data].self),
            Target(Shape.self), Target([Shape].self), Target(Lenient.self), Target(Empty.self), Target(Bool?.self),
        ]
    }
}

/// Whether two results are certainly the same, because the values' JSON or the errors' texts are. This quick comparison
/// avoids most descriptions.
private func areSpelledAlike<Value: Encodable>(_ left: Result<Value, any Error>, _ right: Result<Value, any Error>)
    -> Bool
{
    switch (left, right) {
    case (.success(let left), .success(let right)):
        do {
            return try RecordEncoder().encode(left) == RecordEncoder().encode(right)
        } catch {
            return false
        }
    case (.failure(let left), .failure(let right)):
        return "\(left)" == "\(right)"
    default:
        return false
    }
}

/// A record of ten members.
struct Ten: Codable {
    var id: UUID
    var name: String
    var count: Int
    var ratio: Double
    var isOn: Bool
    var when: Date
    var link: URL?
    var tags: [String]
    var scores: [String: Double]
    var inner: Inner?

    struct Inner: Codable {
        var x: Int8
        var y: Float?
        var é: String?
    }
}

/// A recursive record.
struct Tree: Codable {
    var value: Int?
    var children: [Tree]?
    var named: [String: Tree]?
}

/// An enum.
indirect enum Shape: Codable {
    case point
    case circle(radius: Double)
    case line(Int, Int)
    case group([Shape], name: String?)
}

/// A key of a dictionary.
///
/// Not a number: "1" and "+1" are the same key, and which of two values it gets varies with Foundation.
enum Letter: String, Codable, CodingKeyRepresentable {
    case a, b, long = "quite a long name", é
}

/// A type without members.
struct Empty: Codable {}

/// Keeps the members that can be decoded, and the errors of the others.
struct Lenient: Codable {
    var notes: [String] = []

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            let index = container.currentIndex
            note { try container.decode(Int.self) }
            if container.currentIndex == index { note { try container.decode(String.self) } }
            if container.currentIndex == index { note { try container.decode(Ten.Inner.self) } }
            if container.currentIndex == index { note { try container.decode([Double].self) } }
            if container.currentIndex == index { note { try container.decodeNil() } }
            if container.currentIndex > index { continue }
            // Which of several errors in it is reported varies, even with Foundation alone.
            guard let value = try? container.decode(JSONValue.self) else { return }
            notes.append(exactDescription(of: value))
        }
    }

    private mutating func note<Value>(_ attempt: () throws -> Value) {
        notes.append(exactDescription(of: Result { try attempt() }, withKeyTypes: false))
    }
}
