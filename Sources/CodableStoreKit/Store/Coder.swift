public import Foundation
public import RecordCoder

/// Something that encodes objects: what a type can use instead of a `JSONEncoder`.
///
/// An encoder that a type keeps is used from many threads at once. One that is made at each use need not bear that.
public protocol Encoderable {
    /// Encodes a value.
    ///
    /// - Parameter value: The value.
    /// - Returns: Bytes from which the ``Decoderable`` of the same ``BaseCodableStoreable/Coder`` makes an equal value.
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
    ///   - data: What the ``Encoderable`` of the same ``BaseCodableStoreable/Coder`` has written.
    /// - Throws: What the bytes lack to be such a value.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONEncoder: Encoderable {}
extension JSONDecoder: Decoderable {}
extension PropertyListEncoder: Encoderable {}
extension PropertyListDecoder: Decoderable {}
extension RecordEncoder: Encoderable {}
extension RecordDecoder: Decoderable {}
