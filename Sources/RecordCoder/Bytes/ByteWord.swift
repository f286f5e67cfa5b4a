/// Eight bytes of text that are tested together, the first one in the lowest bits.
///
/// The tests are those of "Hacker's Delight" (Warren, 2nd edition, section 6-1): each yields a mask in which the
/// highest bit of a byte is set if the test holds for it. A borrow can set bits wrongly, but only above the lowest
/// correct one, so the lowest set bit always marks the first matching byte.
struct ByteWord {
    let bits: UInt64

    /// Reads eight bytes, which must be readable.
    @inline(__always)
    init(at address: UnsafeRawPointer) {
        bits = UInt64(littleEndian: address.loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    static func repeating(_ byte: UInt8) -> UInt64 {
        0x0101_0101_0101_0101 &* UInt64(byte)
    }

    @inline(__always)
    static var highBits: UInt64 { repeating(0x80) }

    /// Marks bytes that are not ASCII.
    @inline(__always)
    var nonASCII: UInt64 { bits & Self.highBits }

    /// Marks bytes that must be escaped in a JSON string: quotation marks, backslashes and control characters.
    @inline(__always)
    var needingEscape: UInt64 {
        let control = (bits &- Self.repeating(0x20)) & ~bits
        return (control | mark(UInt8(ascii: "\"")) | mark(UInt8(ascii: "\\"))) & Self.highBits
    }

    /// Marks the bytes that equal a given one. Only the highest bit of each byte is significant.
    @inline(__always)
    private func mark(_ byte: UInt8) -> UInt64 {
        let difference = bits ^ Self.repeating(byte)
        return (difference &- Self.repeating(1)) & ~difference
    }
}

extension UInt64 {
    /// The index of the first byte that a mask of ``ByteWord`` marks, or 8 if it marks none.
    @inline(__always)
    var firstMarkedByte: Int { trailingZeroBitCount &>> 3 }
}
