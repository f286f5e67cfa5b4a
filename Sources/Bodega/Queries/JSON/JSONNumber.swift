/// A number of a JSON text with all its digits, so that comparisons are exact at any length.
package struct JSONNumber: Sendable, Hashable {
    /// The value is 0.DIGITS times ten to the power of the exponent.
    private let exponent: Int
    /// The digits without leading and trailing zeros; empty for zero.
    private let digits: [UInt8]
    private let isNegative: Bool

    /// Reads a number that ``JSONScanner`` has accepted.
    package init(_ text: some Sequence<UInt8>) {
        var digits: [UInt8] = []
        // The number of digits after the decimal point, and the exponent in the text.
        var (fraction, power) = (0, 0)
        var (isNegative, isFraction, isPower, isNegativePower) = (false, false, false, false)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-") where isPower: isNegativePower = true
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): isPower = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = byte - UInt8(ascii: "0")
                if isPower {
                    // No text has enough digits to compensate for a larger exponent.
                    power = min(power * 10 + Int(digit), 1 << 56)
                } else {
                    if isFraction { fraction += 1 }
                    if digit > 0 || !digits.isEmpty { digits.append(digit) }
                }
            default: break
            }
        }
        let exponent = digits.count - fraction + (isNegativePower ? -power : power)
        while digits.last == 0 { digits.removeLast() }
        self.exponent = digits.isEmpty ? 0 : exponent
        self.isNegative = isNegative && !digits.isEmpty
        self.digits = digits
    }

    /// A count.
    package init(_ count: Int) {
        self.init(String(count).utf8)
    }
}

extension JSONNumber {
    /// The number as a text: an integer if it is one of at most 19 digits.
    package var text: String {
        let digits = String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        let sign = isNegative ? "-" : ""
        if digits.isEmpty { return "0" }
        if exponent >= self.digits.count, exponent <= 19 {
            return sign + digits + String(repeating: "0", count: exponent - self.digits.count)
        }
        return "\(sign)0.\(digits)e\(exponent)"
    }
}

extension JSONNumber: Comparable {
    package static func < (left: JSONNumber, right: JSONNumber) -> Bool {
        if left.sign != right.sign { return left.sign < right.sign }
        return left.isNegative ? right.isCloserToZero(than: left) : left.isCloserToZero(than: right)
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    private func isCloserToZero(than other: JSONNumber) -> Bool {
        if exponent != other.exponent { return exponent < other.exponent }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}
