import Bodega
import RecordCoder

/// Numbers for JSON values, so that values of any size are compared in constant time.
///
/// Equal values have equal numbers ("hash consing"). A container's number follows from those of what it contains.
struct MergeValues {
    enum Value: Hashable {
        /// A literal, or a number in a form that all its spellings have.
        case scalar([UInt8])
        case string([UInt8])
        /// A string that is not valid Unicode, as it is written.
        case invalidString([UInt8])
        case array([Int])
        /// The values by their names.
        case object([Int: Int])
        /// Names and values in turn, some names more than once.
        case ambiguous([Int])
    }

    /// The number of the text `id`.
    static let id = 0

    private var numbers: [Value: Int] = [.string(Array("id".utf8)): id]

    mutating func number(of value: Value) -> Int {
        if let number = numbers[value] { return number }
        numbers[value] = numbers.count
        return numbers.count - 1
    }

    /// Returns the number of a string, a number or a literal.
    mutating func scalar(_ text: UnsafeRawBufferPointer) -> Int {
        switch text.first {
        case UInt8(ascii: "\""):
            let content = UnsafeRawBufferPointer(rebasing: text.dropFirst().dropLast())
            guard content.contains(UInt8(ascii: "\\")) else { return number(of: .string(Array(content))) }
            if let string = JSONString.decode(content) { return number(of: .string(Array(string.utf8))) }
            return number(of: .invalidString(Array(content)))
        case UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "f"):
            return number(of: .scalar(Array(text)))
        default:
            return number(of: .scalar(Self.commonForm(ofNumber: text)))
        }
    }

    private static func commonForm(ofNumber text: UnsafeRawBufferPointer) -> [UInt8] {
        // `JSONNumber` does not distinguish exponents as large as these.
        let exponent = text.drop { $0 | 0x20 != UInt8(ascii: "e") }
        if exponent.count > 15 { return Array(text) }
        let number = JSONNumber(text)
        let isNegativeZero = text.first == UInt8(ascii: "-") && number == JSONNumber(0)
        return Array(isNegativeZero ? "-0".utf8 : number.text.utf8)
    }
}
