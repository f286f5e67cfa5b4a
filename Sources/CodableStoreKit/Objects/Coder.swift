public import Foundation
public import RecordCoder

/// An encoder of objects, such as `JSONEncoder`.
///
/// Stores use an encoder on several threads simultaneously if a type returns the same instance each time. An encoder
/// that is created on each access to ``BaseCodableStoreable/codableStoreCoder`` need not be thread-safe.
public protocol Encoderable {
    /// The usual file extension, without the dot. The default is `data`. A store's file names do not depend on it.
    var fileExtension: String { get }

    /// Encodes a value.
    ///
    /// - Parameter value: The value.
    /// - Returns: The encoded value, which the ``Decoderable`` of the same ``Coder`` can decode.
    /// - Throws: An error if the value cannot be encoded in this format.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// A decoder of objects, such as `JSONDecoder`.
///
/// Stores use a decoder on several threads simultaneously, even within one operation, if a type returns the same
/// instance. A decoder created on each access to ``BaseCodableStoreable/codableStoreCoder`` need not be thread-safe.
public protocol Decoderable {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - data: The output of the ``Encoderable`` of the same ``Coder``.
    /// - Throws: An error if the data is not a valid value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// An encoder, and a decoder of the same format.
public typealias Coder = (encoder: any Encoderable, decoder: any Decoderable)

extension Encoderable {
    public var fileExtension: String { "data" }
}

extension JSONEncoder: Encoderable {
    /// The file extension `json`.
    public var fileExtension: String { "json" }
}

extension PropertyListEncoder: Encoderable {
    /// The file extension `plist`.
    public var fileExtension: String { "plist" }
}

extension RecordEncoder: Encoderable {
    /// The file extension `json`.
    public var fileExtension: String { "json" }
}

extension JSONDecoder: Decoderable {}
extension PropertyListDecoder: Decoderable {}
extension RecordDecoder: Decoderable {}
