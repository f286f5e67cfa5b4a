public import Foundation
public import RecordCoder

/// Something that encodes objects: what a type can use instead of a `JSONEncoder`.
///
/// An encoder that a type keeps is used from many threads at once. One that is made at each use need not bear that.
public protocol Encoderable {
    /// What the names of files in its format usually end with, without the dot; by default `data`. The names of a store's
    /// files do not depend on it.
    var fileExtension: String { get }

    /// Encodes a value.
    ///
    /// - Parameter value: The value.
    /// - Returns: Bytes from which the ``Decoderable`` of the same ``Coder`` makes an equal value.
    /// - Throws: What the value or the format objects to.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// Something that decodes objects: what a type can use instead of a `JSONDecoder`.
///
/// A decoder that a type keeps is used from many threads at once, also by one operation. One that is made at each use need
/// not bear that.
public protocol Decoderable {
    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - data: What the ``Encoderable`` of the same ``Coder`` has written.
    /// - Throws: What the bytes lack to be such a value.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// An encoder and a decoder that understand each other.
public typealias Coder = (encoder: any Encoderable, decoder: any Decoderable)

extension Encoderable {
    public var fileExtension: String { "data" }
}

extension JSONEncoder: Encoderable {
    /// The ending `json`.
    public var fileExtension: String { "json" }
}

extension PropertyListEncoder: Encoderable {
    /// The ending `plist`.
    public var fileExtension: String { "plist" }
}

extension RecordEncoder: Encoderable {
    /// The ending `json`.
    public var fileExtension: String { "json" }
}

extension JSONDecoder: Decoderable {}
extension PropertyListDecoder: Decoderable {}
extension RecordDecoder: Decoderable {}
