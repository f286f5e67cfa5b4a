public import Foundation

/// An identifier that determines the key under which its item is stored.
///
/// `String` and each ``StoreIdentifier`` conform. So a `Store` and a reference from another item agree on the key.
public protocol KeyedIdentifier: Sendable {
    /// Returns the key under which the item with an identifier is stored.
    ///
    /// - Parameter identifier: The identifier.
    static func itemKey(of identifier: Self) -> CacheKey
}

extension String: KeyedIdentifier {
    /// Returns the ``CacheKey/Kind/hashed`` key of the text.
    public static func itemKey(of identifier: String) -> CacheKey { CacheKey(identifier) }
}

/// An identifier of items that a `Store` can turn into text.
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
public protocol StoreIdentifier: KeyedIdentifier {
    /// The identifier as text: equal for equal identifiers, different for different ones, and the same in each program
    /// and each version, because items are stored under it.
    var identifierText: String { get }
}

extension StoreIdentifier {
    /// Returns the ``CacheKey/Kind/hashed`` key of ``identifierText``.
    public static func itemKey(of identifier: Self) -> CacheKey { CacheKey(identifier.identifierText) }
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
