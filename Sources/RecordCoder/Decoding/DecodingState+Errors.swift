import Foundation

/// A type, and the kind of a JSON value from which it can't be decoded.
struct MismatchKind: Hashable {
    let type: ObjectIdentifier
    let kind: Token.Kind
}

/// A placeholder that no caller sees, because Foundation decodes the value again.
private struct GivenToFoundation: Error {}

/// A value that is decoded from an array.
struct ArrayProbe: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.unkeyedContainer() }
}

/// A value that is decoded from an object.
struct ObjectProbe: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: PathKey.self) }
}

/// Foundation's decoder with its default strategies. It is never mutated.
private let foundationsDecoder = JSONDecoder()

/// The result of decoding a value as its container sees it. `JSONDecoder` may replace an error for its caller.
private struct Outcome<Value: Decodable>: Decodable {
    let result: Result<Value, any Error>

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        result = Result { try container.decode(Value.self) }
    }

    /// Decodes a text with Foundation.
    static func decode(_ text: Data) throws -> Value {
        try foundationsDecoder.decode(Self.self, from: text).result.get()
    }
}

extension DecodingState {

    /// Foundation's error for a value of the wrong kind.
    ///
    /// A type may catch the error and continue, so it must equal Foundation's. So Foundation decodes an example.
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
        // Foundation throws no error.
        fields.pointee.isForFoundation = true
        return GivenToFoundation()
    }

    /// Decodes one scalar with Foundation.
    @inline(never)
    func askFoundation<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        let token = fields.pointee.tape[index]
        // Include a string's quotation marks, which surround its text.
        let marks = token.kind == .string ? 1 : 0
        let text = Data(bytes: text(of: token) - marks, count: Int(token.count) + 2 * marks)
        do {
            return try Outcome<Value>.decode(text)
        } catch let error as DecodingError {
            throw error.moved(to: path(to: index))
        }
    }

    /// An error in a member, with the requested key itself at the end of its path.
    @inline(never)
    func error(_ error: any Error, in object: Int, at key: any CodingKey) -> any Error {
        guard let error = error as? DecodingError else { return error }
        return error.moved(to: path(to: object) + [key])
    }

    /// Foundation's error for a missing member.
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

    /// Foundation's error for reading past the end of an array.
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
    /// An example of a value of this kind.
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
    /// The same error with another coding path.
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
