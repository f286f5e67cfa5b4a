extension TapeScanner {

    /// Scans a number as RFC 8259 defines it, except that a number with a leading zero may not have an exponent,
    /// because Foundation rejects some of those.
    @inline(__always)
    mutating func scanNumber() -> Bool {
        // Reading stops at the first byte after the number, at the latest at the first zero after the text.
        let start = place
        var kind = Token.Kind.integer
        if place.pointee == UInt8(ascii: "-") { place += 1 }
        let beginsWithZero = place.pointee == UInt8(ascii: "0")
        if beginsWithZero {
            place += 1
        } else {
            guard skipDigits() else { return false }
        }
        if place.pointee == UInt8(ascii: ".") {
            kind = .number
            place += 1
            guard skipDigits() else { return false }
        }
        if place.pointee | 0x20 == UInt8(ascii: "e") {
            if beginsWithZero { return false }
            kind = .number
            place += 1
            if place.pointee == UInt8(ascii: "+") || place.pointee == UInt8(ascii: "-") { place += 1 }
            guard skipDigits() else { return false }
        }
        append(kind, at: start, count: place - start)
        return true
    }

    /// Skips digits.
    ///
    /// - Returns: Whether there was at least one.
    @inline(__always)
    private mutating func skipDigits() -> Bool {
        guard place.pointee.isDigit else { return false }
        repeat { place += 1 } while place.pointee.isDigit
        return true
    }
}

extension UInt8 {
    /// Whether the byte is a digit from 0 to 9.
    @inline(__always)
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
