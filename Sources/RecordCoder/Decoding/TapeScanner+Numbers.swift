extension TapeScanner {

    /// Scans a number: one as RFC 8259 defines it, but without an exponent if it begins with a zero, because Foundation
    /// doesn't take some of those.
    @inline(__always)
    mutating func scanNumber() -> Bool {
        // Nothing is read behind a byte that isn't a part of the number, so nothing behind the first zero.
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
    /// - Returns: Whether there was one.
    @inline(__always)
    private mutating func skipDigits() -> Bool {
        guard place.pointee.isDigit else { return false }
        repeat { place += 1 } while place.pointee.isDigit
        return true
    }
}

extension UInt8 {
    /// Whether it is one of the digits 0 to 9.
    @inline(__always)
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
