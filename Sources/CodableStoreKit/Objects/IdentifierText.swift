import Bodega
import Foundation

/// The text representation of an identifier, which is the same in every process.
enum IdentifierText {

    /// Returns the text of an identifier.
    ///
    /// - Throws: ``Bodega/StorageError/Code/unsupportedIdentifier`` if there is none.
    static func text<ID: Hashable>(of identifier: ID) throws -> String {
        // The common types come first, because this runs for each object.
        if ID.self == String.self, let text = identifier as? String { return text }
        if ID.self == UUID.self, let identifier = identifier as? UUID { return identifier.uuidString }
        if ID.self == Int.self, let identifier = identifier as? Int { return identifier.description }
        if let text = try stableText(of: identifier, isOptional: ID.self is any OptionalType.Type) { return text }
        throw StorageError(
            .unsupportedIdentifier,
            """
            An identifier of type \(String(reflecting: type(of: identifier))) has no representation that is the same \
            in every process. Use a string, a number, a UUID or a URL, or make the type Codable, without a Set or an \
            unordered dictionary inside.
            """
        )
    }

    /// Returns a key for use in an error. It need not be the key of a record.
    static func looseKey(of identifier: some Hashable) -> CacheKey {
        do {
            return CacheKey(try text(of: identifier))
        } catch {
            return CacheKey(String(reflecting: identifier))
        }
    }

    private static func stableText(of value: Any, isOptional: Bool = false) throws -> String? {
        if type(of: value) == AnyHashable.self, let erased = value as? AnyHashable {
            return try stableText(ofErased: erased.base)
        }
        switch value {
        // The other cases would match the value inside an optional, and describe `nil` as a word.
        case let value as any Encodable where isOptional:
            return hasUnstableOrder(value) ? nil : try canonicalJSON(of: value)
        case let value as UUID: return value.uuidString
        case let value as URL: return value.absoluteString
        case let value as any LosslessStringConvertible: return value.description
        case let value as any RawRepresentable: return try stableText(ofRawValue: value)
        case let value as any Encodable: return hasUnstableOrder(value) ? nil : try canonicalJSON(of: value)
        default: return nil
        }
    }

    private static func stableText(ofRawValue value: some RawRepresentable) throws -> String? {
        try stableText(of: value.rawValue)
    }

    /// Returns the text of an identifier without a static type. The text begins with the type, so "1" and 1 differ.
    /// Equal numbers of different types have the same text.
    private static func stableText(ofErased base: Any) throws -> String? {
        switch base {
        case let number as any BinaryInteger: return "Number:\(number.description)"
        case let number as Double: return "Number:\(text(of: number))"
        case let number as Float: return "Number:\(text(of: Double(number)))"
        default: break
        }
        // On some platforms, Foundation types are in the module FoundationEssentials.
        let name = String(reflecting: type(of: base)).replacing("FoundationEssentials.", with: "Foundation.")
        // The name of a private or local type contains an address, which differs from process to process.
        if name.contains("(unknown context at ") { return nil }
        return try stableText(of: base, isOptional: type(of: base) is any OptionalType.Type).map { "\(name):\($0)" }
    }

    private static func text(of number: Double) -> String {
        Int64(exactly: number)?.description ?? UInt64(exactly: number)?.description ?? number.description
    }

    /// Returns whether a value contains a collection whose order differs from process to process.
    private static func hasUnstableOrder(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .set || mirror.displayStyle == .dictionary && !(value is [String: Any]) {
            return true
        }
        return mirror.children.contains { hasUnstableOrder($0.value) }
    }

    private static func canonicalJSON(of value: any Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw StorageError(
                .unsupportedIdentifier,
                "The identifier \(String(reflecting: value)) could not be encoded.",
                cause: error
            )
        }
    }
}

/// A marker of optional types.
private protocol OptionalType {}

extension Optional: OptionalType {}
