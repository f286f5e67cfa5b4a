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

    /// Encodes many objects. By default, each for itself.
    ///
    /// - Returns: Exactly one result for each object, in its place: its bytes, or what ``encode(_:)`` would throw.
    func encode<Object: Encodable>(each objects: some Sequence<Object>) -> [Result<Data, any Error>]

    /// Decodes many objects. By default, each for itself.
    ///
    /// - Parameters:
    ///   - type: The objects' type.
    ///   - records: The records.
    ///   - receive: For each record in order, either this is to be called once, with the object,
    ///   - failure: or this, with what ``decode(_:from:)`` would throw.
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
