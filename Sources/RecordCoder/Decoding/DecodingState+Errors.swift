import Foundation

/// A value of one kind where a type needs another.
struct MismatchKind: Hashable {
    let type: ObjectIdentifier
    let kind: Token.Kind
}

/// Stands for an error that nobody sees, because the value is given to Foundation.
private struct GivenToFoundation: Error {}

/// What needs an array.
struct ArrayProbe: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.unkeyedContainer() }
}

/// What needs an object.
struct ObjectProbe: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: PathKey.self) }
}

/// Foundation's decoder with its default strategies, which is never changed.
private let foundationsDecoder = JSONDecoder()

/// What becomes of a value: the error that the value's container sees, which `JSONDecoder` may replace before its caller does.
private struct Outcome<Value: Decodable>: Decodable {
    let result: Result<Value, any Error>

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        result = Result { try container.decode(Value.self) }
    }

    /// Lets Foundation decode a text.
    static func decode(_ text: Data) throws -> Value {
        try foundationsDecoder.decode(Self.self, from: text).result.get()
    }
}

extension DecodingState {

    /// Foundation's error for a value of the wrong kind.
    ///
    /// Types may catch it and go on, so it must be the same; the way to make sure is to let Foundation decode such a value.
    @inline(never)
    func mismatch<Value: Decodable>(_ type: Value.Type, at index: Int) -> any Error {
        let kind = fields.pointee.tape[index].kind
        let mismatch = MismatchKind(type: ObjectIdentifier(type), kind: kind)
        if let known = fields.pointee.mismatches[mismatch] { return known.moved(to: path(to: index)) }
        do {
            _ = try Outcome<Value>.decode(Data(kind.example.utf8))
        } catch let error as DecodingError {
            fields.pointee.mismatches[mismatch] = error
            return error.moved(to: path(to: index))
        } catch {
            return error
        }
        // Foundation sees nothing wrong.
        fields.pointee.isForFoundation = true
        return GivenToFoundation()
    }

    /// Lets Foundation decode one scalar.
    @inline(never)
    func askFoundation<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        let token = fields.pointee.tape[index]
        // With the quotation marks of a string, which stand before and behind its text.
        let marks = token.kind == .string ? 1 : 0
        let text = Data(bytes: text(of: token) - marks, count: Int(token.count) + 2 * marks)
        do {
            return try Outcome<Value>.decode(text)
        } catch let error as DecodingError {
            throw error.moved(to: path(to: index))
        }
    }

    /// An error in a member, with the very key that was asked for at the end of its path.
    @inline(never)
    func error(_ error: any Error, in object: Int, at key: any CodingKey) -> any Error {
        guard let error = error as? DecodingError else { return error }
        return error.moved(to: path(to: object) + [key])
    }

    /// Foundation's error for a member that is not there.
    @inline(never)
    func absence(of key: any CodingKey, in object: Int) -> any Error {
        DecodingError.keyNotFound(
            key,
            DecodingError.Context(
                codingPath: path(to: object),
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."
            )
        )
    }

    /// Foundation's error for reading behind the end of an array.
    @inline(never)
    func end(of array: Int, expecting type: Any.Type, count: Int, isSuper: Bool) -> any Error {
        DecodingError.valueNotFound(
            type,
            DecodingError.Context(
                codingPath: path(to: array) + [PathKey(index: count)],
                debugDescription: isSuper
                    ? "Cannot get superDecoder() -- unkeyed container is at end." : "Unkeyed container is at end."
            )
        )
    }
}

extension Token.Kind {
    /// A value of this kind.
    fileprivate var example: String {
        switch self {
        case .null: "null"
        case .true: "true"
        case .false: "false"
        case .integer, .number: "0"
        case .string, .name: "\"\""
        case .array: "[]"
        case .object: "{}"
        }
    }
}

extension DecodingError {
    /// The same error at another place.
    fileprivate func moved(to path: [any CodingKey]) -> DecodingError {
        switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, context.moved(to: path))
        case .valueNotFound(let type, let context): .valueNotFound(type, context.moved(to: path))
        case .keyNotFound(let key, let context): .keyNotFound(key, context.moved(to: path))
        case .dataCorrupted(let context): .dataCorrupted(context.moved(to: path))
        @unknown default: self
        }
    }
}

extension DecodingError.Context {
    fileprivate func moved(to path: [any CodingKey]) -> DecodingError.Context {
        DecodingError.Context(codingPath: path, debugDescription: debugDescription, underlyingError: underlyingError)
    }
}
