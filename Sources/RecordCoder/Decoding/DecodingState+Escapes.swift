extension DecodingState {

    /// The text of a string with escapes, which the scanner has validated.
    @inline(never)
    func unescapedString(_ token: Token) -> String {
        var place = text(of: token)
        let end = place + Int(token.count)
        // No escape is shorter than its UTF-8, so `output` never overtakes `place`, and `count` bytes suffice.
        return String(unsafeUninitializedCapacity: Int(token.count)) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            var output = start
            while place < end {
                // Copy eight bytes at a time while all of them belong to the text, so that they fit in the output.
                while place + 8 <= end {
                    let word = ByteWord(at: place)
                    UnsafeMutableRawPointer(output).storeBytes(of: word.bits.littleEndian, as: UInt64.self)
                    let plain = word.needingEscape.firstMarkedByte
                    place += plain
                    output += plain
                    if plain < 8 { break }
                }
                if place.pointee == UInt8(ascii: "\\") {
                    place.readEscape(into: &output)
                } else if place < end {
                    output.pointee = place.pointee
                    output += 1
                    place += 1
                }
            }
            return output - start
        }
    }
}

extension UnsafePointer<UInt8> {

    /// Writes the character of an escape. The scanner has validated the escape, so it is complete.
    fileprivate mutating func readEscape(into output: inout UnsafeMutablePointer<UInt8>) {
        let kind = self[1]
        if kind == UInt8(ascii: "u") {
            for byte in Unicode.UTF8.encode(readUnicodeEscape()).unsafelyUnwrapped {
                output.pointee = byte
                output += 1
            }
            return
        }
        output.pointee =
            switch kind {
            case UInt8(ascii: "b"): 0x08
            case UInt8(ascii: "f"): 0x0C
            case UInt8(ascii: "n"): 0x0A
            case UInt8(ascii: "r"): 0x0D
            case UInt8(ascii: "t"): 0x09
            default: kind
            }
        output += 1
        self += 2
    }

    private mutating func readUnicodeEscape() -> Unicode.Scalar {
        let high = UInt32((self + 2).hexadecimalUnit ?? 0)
        self += 6
        // Neither can fail, because the scanner accepts surrogates only in pairs.
        if high & 0xF800 != 0xD800 { return Unicode.Scalar(high) ?? "\u{FFFD}" }
        let low = UInt32((self + 2).hexadecimalUnit ?? 0)
        self += 6
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }
}
