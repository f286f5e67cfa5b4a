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
    /// - Throws: An error if the object can't be encoded.
    func encode<Object: Encodable>(_ object: Object) throws -> Data

    /// Decodes an object.
    ///
    /// - Throws: An error if the bytes can't be decoded as such an object.
    func decode<Object: Decodable>(_ type: Object.Type, from data: Data) throws -> Object

    /// Encodes many objects. The default encodes them one by one.
    ///
    /// - Returns: One result per object, in order: its bytes, or the error that ``encode(_:)`` would throw.
    func encode<Object: Encodable>(each objects: some Sequence<Object>) -> [Result<Data, any Error>]

    /// Decodes many objects. The default decodes them one by one.
    ///
    /// - Parameters:
    ///   - type: The objects' type.
    ///   - records: The records.
    ///   - receive: Must be called with the object of each record that could be decoded, in order.
    ///   - failure: Must be called instead, for each other record, with the error that ``decode(_:from:)`` would throw.
    func decode<Object: Decodable>(
        _ type: Object.Type,
        fromEach records: some Sequence<Data>,
        receive: (consuming Object) -> Void,
        failure: (any Error) -> Void
    )
}

extension ObjectCoder {
    public func encode<Object: Encodable>(each objects: some Sequence<Object>) -> [Result<Data, any Error>] {
        objects.map { object in Result { try encode(object) } }
    }

    public func decode<Object: Decodable>(
        _ type: Object.Type,
        fromEach records: some Sequence<Data>,
        receive: (consuming Object) -> Void,
        failure: (any Error) -> Void
    ) {
        for record in records {
            do { receive(try decode(type, from: record)) } catch { failure(error) }
        }
    }
}
