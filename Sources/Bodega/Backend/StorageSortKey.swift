import Foundation
import RecordCoder

/// The place of a JSON value in the order that all engines share.
///
/// In ascending order, numbers come first, then strings, and last the items that have no value. Items without a value,
/// which are those whose member is missing or `null`, come last in descending order, too.
///
/// - Integers that fit into 64 bits are exact. A number with a fraction or an exponent, and a larger one, counts as the
///   nearest `Double`.
/// - `false` and `true` count as 0 and 1.
/// - Strings are compared by their Unicode scalars, as RFC 9535 does.
/// - Arrays and objects count as strings: their JSON text without whitespace.
public enum StorageSortKey: Sendable {
    /// An integer.
    case integer(Int64)
    /// A number that is not an integer of 64 bits; never NaN.
    case real(Double)
    /// A string.
    case text(String)
    /// There is no value.
    case none

    /// The place of a number. An integral number becomes an integer, so that equal numbers are equal; NaN has no place.
    public init(_ number: Double) {
        if let integer = Int64(exactly: number) {
            self = .integer(integer)
        } else {
            self = number.isNaN ? .none : .real(number)
        }
    }
}

extension StorageSortKey: Comparable, Hashable {

    public static func == (left: StorageSortKey, right: StorageSortKey) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        // Two spellings of "é" are two texts.
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.none, .none): true
        case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
            Int64(exactly: real) == integer
        default: false
        }
    }

    public static func < (left: StorageSortKey, right: StorageSortKey) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.integer(let left), .real(let right)): isLess(left, right)
        case (.real(let left), .integer(let right)): !isAtMost(right, left)
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        default: left.rank < right.rank
        }
    }

    /// Compares exactly: 2^53 + 1 is no `Double`.
    private static func isLess(_ integer: Int64, _ real: Double) -> Bool {
        if real >= 0x1p63 { return true }
        if real < -0x1p63 { return false }
        let floor = real.rounded(.down)
        return integer < Int64(floor) || integer == Int64(floor) && floor < real
    }

    private static func isAtMost(_ integer: Int64, _ real: Double) -> Bool {
        isLess(integer, real) || Int64(exactly: real) == integer
    }

    private var rank: Int {
        switch self {
        case .integer, .real: 0
        case .text: 1
        case .none: 2
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let integer): hasher.combine(integer)
        case .real(let real):
            if let integer = Int64(exactly: real) { hasher.combine(integer) } else { hasher.combine(real) }
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .none: hasher.combine(-1 as Int8)
        }
    }
}

extension StorageSortKey {

    /// The place of a value in a text that ``/RecordCoder/JSONScanner`` has accepted.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - range: The range of the value, `nil` if there is none.
    package init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>?) {
        guard let range, let first = range.first else {
            self = .none
            return
        }
        switch bytes[first] {
        case UInt8(ascii: "n"): self = .none
        case UInt8(ascii: "t"): self = .integer(1)
        case UInt8(ascii: "f"): self = .integer(0)
        case UInt8(ascii: "\""):
            let content = UnsafeRawBufferPointer(rebasing: bytes[first + 1..<range.upperBound - 1])
            // An escaped half of a surrogate pair is not Unicode; decoders reject it.
            self = JSONString.decode(content).map(Self.text) ?? .none
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            self = .text(String(decoding: JSONText.withoutWhitespace(bytes[range]), as: UTF8.self))
        default:
            self = Self.number(String(decoding: bytes[range], as: UTF8.self))
        }
    }

    /// The place of a number in a text.
    private static func number(_ text: String) -> StorageSortKey {
        // As in SQLite, the text decides: 1.0 is a real number, which is equal to 1.
        Int64(text).map(Self.integer) ?? Double(text).map { StorageSortKey($0) } ?? .none
    }
}

extension StorageSortKey {
    /// The place of a number.
    package init(_ number: JSONNumber) {
        self = Self.number(number.text)
    }
}
