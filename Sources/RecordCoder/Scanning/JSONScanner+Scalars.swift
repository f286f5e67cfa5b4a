extension JSONScanner {

    /// Moves past a string, number or literal.
    mutating func skipScalar(startingWith first: UInt8) throws(JSONScanError) {
        switch first {
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try skipNumber()
        case UInt8(ascii: "t"): try skipLiteral("true")
        case UInt8(ascii: "f"): try skipLiteral("false")
        case UInt8(ascii: "n"): try skipLiteral("null")
        default: throw .unexpectedByte(at: position)
        }
    }

    private mutating func skipLiteral(_ literal: StaticString) throws(JSONScanError) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard try peek() == literal.utf8Start[index] else { throw .unexpectedByte(at: position) }
            position += 1
        }
    }

    private mutating func skipNumber() throws(JSONScanError) {
        if try peek() == UInt8(ascii: "-") { position += 1 }
        if try peek() == UInt8(ascii: "0") {
            position += 1
        } else {
            try skipDigits()
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try skipDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = try peek()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
    }

    /// Moves past at least one digit.
    private mutating func skipDigits() throws(JSONScanError) {
        guard Self.isDigit(try peek()) else { throw .unexpectedByte(at: position) }
        while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit, or `nil`.
    @inline(__always)
    var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}
