extension Tape {

    /// Adds the token of a number.
    ///
    /// - Parameter place: At the first digit or the minus; afterwards behind the number.
    /// - Returns: Whether it is a number as RFC 8259 defines it.
    @inline(__always)
    mutating func appendNumber(_ place: inout UnsafePointer<UInt8>) -> Bool {
        // Nothing is read behind a byte that isn't a part of the number, so nothing behind the first zero.
        let start = place
        var end = start
        var kind = Token.Kind.integer
        if end.pointee == UInt8(ascii: "-") { end += 1 }
        if end.pointee == UInt8(ascii: "0") {
            end += 1
            // Foundation doesn't take an exponent here, which the RFC does.
            if end.pointee | 0x20 == UInt8(ascii: "e") { return false }
        } else {
            guard end.skipDigits() else { return false }
        }
        if end.pointee == UInt8(ascii: ".") {
            kind = .number
            end += 1
            guard end.skipDigits() else { return false }
        }
        if end.pointee | 0x20 == UInt8(ascii: "e") {
            kind = .number
            end += 1
            if end.pointee == UInt8(ascii: "+") || end.pointee == UInt8(ascii: "-") { end += 1 }
            guard end.skipDigits() else { return false }
        }
        append(
            Token(
                start: UInt32(truncatingIfNeeded: start - UnsafePointer(bytes)),
                count: UInt32(truncatingIfNeeded: end - start),
                next: UInt32(truncatingIfNeeded: tokenCount + 1),
                kind: kind
            )
        )
        place = end
        return true
    }
}

extension UnsafePointer<UInt8> {
    /// Skips digits.
    ///
    /// - Returns: Whether there was one.
    @inline(__always)
    fileprivate mutating func skipDigits() -> Bool {
        guard pointee.isDigit else { return false }
        repeat { self += 1 } while pointee.isDigit
        return true
    }
}

extension UInt8 {
    /// Whether it is one of the digits 0 to 9.
    @inline(__always)
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
