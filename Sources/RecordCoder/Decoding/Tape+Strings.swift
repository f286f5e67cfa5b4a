extension Tape {

    /// Adds the token of a string or of a member's name.
    ///
    /// - Parameters:
    ///   - place: At the opening quotation mark; afterwards behind the closing one.
    ///   - kind: Which of the two it is.
    ///   - next: The token's `next`.
    /// - Returns: Whether it is a string of valid UTF-8 with valid escapes.
    @inline(__always)
    mutating func appendString(_ place: inout UnsafePointer<UInt8>, _ kind: Token.Kind, next: Int) -> Bool {
        let start = place + 1
        var end = start
        var isEscaped = false
        var isASCII = true
        while true {
            // At most eight bytes from one at or before the zeros behind the text.
            let word = ByteWord(at: end)
            let special = word.needingEscape | word.nonASCII
            if special == 0 {
                end += 8
                continue
            }
            end += special.firstMarkedByte
            if end.pointee == UInt8(ascii: "\"") { break }
            if end.pointee == UInt8(ascii: "\\") {
                isEscaped = true
                guard end.skipEscape() else { return false }
            } else if end.pointee >= 0x80 {
                isASCII = false
                guard end.skipMultibyteCharacters() else { return false }
            } else {
                return false
            }
        }
        let length = end - start
        place = end + 1
        append(
            Token(
                start: UInt32(truncatingIfNeeded: start - UnsafePointer(bytes)),
                count: UInt32(truncatingIfNeeded: length),
                next: UInt32(truncatingIfNeeded: next),
                kind: kind,
                isIrregular: isEscaped,
                isASCII: isASCII
            )
        )
        return true
    }
}

extension UnsafePointer<UInt8> {

    /// Skips an escape, or two that form a surrogate pair.
    ///
    /// - Returns: Whether it is valid.
    @inline(never)
    fileprivate mutating func skipEscape() -> Bool {
        // Each byte is only read if the one before was not the zero behind the text.
        switch self[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            self += 2
            return true
        case UInt8(ascii: "u"):
            guard let unit = (self + 2).hexadecimalUnit else { return false }
            self += 6
            if unit & 0xF800 != 0xD800 { return true }
            guard unit < 0xDC00, self[0] == UInt8(ascii: "\\"), self[1] == UInt8(ascii: "u") else { return false }
            guard let low = (self + 2).hexadecimalUnit, low & 0xFC00 == 0xDC00 else { return false }
            self += 6
            return true
        default:
            return false
        }
    }

    /// The number that four hexadecimal digits are, or `nil`.
    var hexadecimalUnit: UInt16? {
        var unit: UInt16 = 0
        for index in 0..<4 {
            // Stops at the first byte that isn't a digit, so at the zero behind the text.
            guard let digit = self[index].hexadecimalDigit else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// Skips characters that are not ASCII.
    ///
    /// - Returns: Whether they are well-formed as Unicode's table 3-7 defines it.
    @inline(never)
    fileprivate mutating func skipMultibyteCharacters() -> Bool {
        // Each byte is only read if the one before was not the zero behind the text.
        while pointee >= 0x80 {
            let length: Int
            let second: ClosedRange<UInt8>
            switch pointee {
            case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            default: return false
            }
            guard second.contains(self[1]) else { return false }
            if length > 2, self[2] & 0xC0 != 0x80 { return false }
            if length > 3, self[3] & 0xC0 != 0x80 { return false }
            self += length
        }
        return true
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
