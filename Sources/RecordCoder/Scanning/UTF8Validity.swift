/// Whether bytes are valid UTF-8 as defined by table 3-7 of the Unicode Standard, version 15: no overlong forms, no
/// surrogates, nothing above U+10FFFF.
package func isValidUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    while position < bytes.count {
        // Most text is ASCII; eight bytes at a time.
        if position + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
            continue
        }
        let first = bytes[position]
        if first < 0x80 {
            position += 1
            continue
        }
        guard let (length, second) = multibyteCharacter(beginningWith: first) else { return false }
        guard position + length <= bytes.count, second.contains(bytes[position + 1]) else { return false }
        for offset in 2..<max(length, 2) where bytes[position + offset] & 0xC0 != 0x80 { return false }
        position += length
    }
    return true
}

/// The length of a non-ASCII character with a first byte, and the range of its second byte, by table 3-7 of the Unicode
/// Standard; `nil` if no character begins with the byte.
@inline(__always)
func multibyteCharacter(beginningWith first: UInt8) -> (length: Int, second: ClosedRange<UInt8>)? {
    switch first {
    case 0xC2...0xDF: (2, 0x80...0xBF)
    case 0xE0: (3, 0xA0...0xBF)
    case 0xED: (3, 0x80...0x9F)
    case 0xE1...0xEF: (3, 0x80...0xBF)
    case 0xF0: (4, 0x90...0xBF)
    case 0xF1...0xF3: (4, 0x80...0xBF)
    case 0xF4: (4, 0x80...0x8F)
    default: nil
    }
}
