import Foundation
import RecordCoder
import RecordCoderOracle

/// A type as which documents are decoded.
struct Target {

    /// What came of a comparison.
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
            let description = exactDescription(of: value)
            let ours = oracle.ourDecoding(of: type, from: json)
            if let difference = oracle.difference(between: ours, and: description, decoding: type, from: json) {
                return .different(difference)
            }
            guard case .success(let value) = value else { return .same(hasValue: false) }
            // What a value becomes that is written and read again, which is not always the same.
            let foundations = Result { try decoder.decode(type, from: encoder.encode(value)) }
            let encoded = Result { try decoder.decode(type, from: RecordEncoder().encode(value)) }
            let (one, other) = (exactDescription(of: encoded), exactDescription(of: foundations))
            if one == other { return .same(hasValue: true) }
            return .different(Oracle.Difference(type: "\(type), encoded", json: json, ours: one, foundations: other))
        }
    }

    /// The types that are tried with any document.
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

/// A record that contains others of its type.
struct Tree: Codable {
    var value: Int?
    var children: [Tree]?
    var named: [String: Tree]?
}

/// A choice.
indirect enum Shape: Codable {
    case point
    case circle(radius: Double)
    case line(Int, Int)
    case group([Shape], name: String?)
}

/// A key of a dictionary.
///
/// Not a number: "1" and "+1" are one key, and which of two values it gets is not the same each time with Foundation.
enum Letter: String, Codable, CodingKeyRepresentable {
    case a, b, long = "quite a long name", é
}

/// A type without members.
struct Empty: Codable {}

/// Keeps what it can, and what was wrong with the rest.
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
            // Which of several errors in it is reported is not the same each time, not even with Foundation alone.
            guard let value = try? container.decode(JSONValue.self) else { return }
            notes.append(exactDescription(of: value))
        }
    }

    private mutating func note<Value>(_ attempt: () throws -> Value) {
        notes.append(exactDescription(of: Result { try attempt() }, withKeyTypes: false))
    }
}
