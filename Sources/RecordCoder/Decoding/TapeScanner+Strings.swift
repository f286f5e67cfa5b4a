extension TapeScanner {

    /// Scans a string or a member's name: valid UTF-8 with valid escapes.
    ///
    /// - Parameters:
    ///   - kind: The kind of the token.
    ///   - next: The token's `next`.
    @inline(__always)
    mutating func scanString(_ kind: Token.Kind, next: Int) -> Bool {
        let start = place + 1
        var end = start
        var isEscaped = false
        var isASCII = true
        while true {
            // In bounds: eight bytes, starting at or before the first zero after the text.
            let word = ByteWord(at: end)
            let special = word.needingEscape | word.nonASCII
            if special == 0 {
                end += 8
                continue
            }
            end += special.firstMarkedByte
            let byte = end.pointee
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                guard let behind = end.behindEscape else { return false }
                end = behind
            } else if byte >= 0x80 {
                isASCII = false
                guard let behind = end.behindMultibyteCharacters else { return false }
                end = behind
            } else {
                return false
            }
        }
        place = end + 1
        append(
            Token(
                start: offset(of: start),
                count: UInt32(truncatingIfNeeded: end - start),
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

    /// The place after an escape, or after a surrogate pair of two escapes; `nil` if it is invalid.
    @inline(__always)
    fileprivate var behindEscape: UnsafePointer<UInt8>? {
        // Each byte is read only if the previous one was not the zero after the text.
        switch self[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return self + 2
        case UInt8(ascii: "u"):
            guard let unit = (self + 2).hexadecimalUnit else { return nil }
            if unit & 0xF800 != 0xD800 { return self + 6 }
            guard unit < 0xDC00, self[6] == UInt8(ascii: "\\"), self[7] == UInt8(ascii: "u") else { return nil }
            guard let low = (self + 8).hexadecimalUnit, low & 0xFC00 == 0xDC00 else { return nil }
            return self + 12
        default:
            return nil
        }
    }

    /// The value of four hexadecimal digits, or `nil`.
    @inline(never)
    var hexadecimalUnit: UInt16? {
        var unit: UInt16 = 0
        for index in 0..<4 {
            // Stops at the first byte that isn't a digit, at the latest at the zero after the text.
            guard let digit = self[index].hexadecimalDigit else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// The place after a run of non-ASCII characters; `nil` if they are not well-formed by table 3-7 of the Unicode
    /// standard.
    @inline(never)
    fileprivate var behindMultibyteCharacters: UnsafePointer<UInt8>? {
        // Each byte is read only if the previous one was not the zero after the text.
        var place = self
        while place.pointee >= 0x80 {
            guard let (length, second) = multibyteCharacter(beginningWith: place.pointee) else { return nil }
            guard second.contains(place[1]) else { return nil }
            if length > 2, place[2] & 0xC0 != 0x80 { return nil }
            if length > 3, place[3] & 0xC0 != 0x80 { return nil }
            place += length
        }
        return place
    }
}
