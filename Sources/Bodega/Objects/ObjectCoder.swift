public import Foundation

/// Turns objects into bytes and back.
///
/// ```swift
/// let encoder = JSONEncoder()
/// encoder.dateEncodingStrategy = .iso8601
/// let decoder = JSONDecoder()
/// decoder.dateDecodingStrategy = .iso8601
/// let storage = ObjectStorage<Quote>(storage: engine, coder: .json(encoder: encoder, decoder: decoder))
/// ```
public protocol ObjectCoder: Sendable {

    /// Encodes an object.
    ///
    /// - Throws: What the object or the format objects to.
    func encode<Object: Encodable>(_ object: Object) throws -> Data

    /// Decodes an object.
    ///
    /// - Throws: What the bytes lack to be such an object.
    func decode<Object: Decodable>(_ type: Object.Type, from data: Data) throws -> Object
}

/// Foundation's JSON coders.
public struct JSONObjectCoder: ObjectCoder {
    private let encoder: JSONEncoder
    private let decoder: JSONDecoder

    /// Creates a coder.
    ///
    /// - Parameters:
    ///   - encoder: An encoder, not to be changed any more.
    ///   - decoder: A decoder that understands what it writes, not to be changed any more.
    public init(encoder: JSONEncoder = JSONEncoder(), decoder: JSONDecoder = JSONDecoder()) {
        self.encoder = encoder
        self.decoder = decoder
    }

    public func encode<Object: Encodable>(_ object: Object) throws -> Data {
        try encoder.encode(object)
    }

    public func decode<Object: Decodable>(_ type: Object.Type, from data: Data) throws -> Object {
        try decoder.decode(type, from: data)
    }
}

extension ObjectCoder where Self == JSONObjectCoder {
    /// JSON with Foundation's default strategies.
    public static var json: JSONObjectCoder { JSONObjectCoder() }

    /// JSON with coders of your own.
    ///
    /// - Parameters:
    ///   - encoder: An encoder, not to be changed any more.
    ///   - decoder: A decoder that understands what it writes, not to be changed any more.
    public static func json(encoder: JSONEncoder, decoder: JSONDecoder) -> JSONObjectCoder {
        JSONObjectCoder(encoder: encoder, decoder: decoder)
    }
}
