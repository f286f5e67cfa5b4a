public import Foundation

/// An identifier of items that a ``Store`` can turn into text.
///
/// UUIDs and integers of up to 64 bits conform. Let an identifier of your own conform, and items that have it as `id`
/// need no `cacheIdentifier`:
///
/// ```swift
/// struct NoteID: StoreIdentifier, Codable, Hashable {
///     let number: Int
///     var identifierText: String { "note \(number)" }
/// }
/// ```
///
/// An identifier that is a `String` needs no conformance.
public protocol StoreIdentifier: Sendable {
    /// The identifier as text: equal for equal identifiers, different for different ones, and the same in each program
    /// and each version, because items are stored under it.
    var identifierText: String { get }
}

extension UUID: StoreIdentifier {
    /// The string of the UUID, with upper-case digits.
    public var identifierText: String { uuidString }
}

extension StoreIdentifier where Self: BinaryInteger {
    /// The decimal digits of the number, with a minus sign if it is negative.
    public var identifierText: String { description }
}

extension Int: StoreIdentifier {}
extension Int8: StoreIdentifier {}
extension Int16: StoreIdentifier {}
extension Int32: StoreIdentifier {}
extension Int64: StoreIdentifier {}
extension UInt: StoreIdentifier {}
extension UInt8: StoreIdentifier {}
extension UInt16: StoreIdentifier {}
extension UInt32: StoreIdentifier {}
extension UInt64: StoreIdentifier {}
