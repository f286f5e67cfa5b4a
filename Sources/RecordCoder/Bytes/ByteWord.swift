/// Eight bytes of text that are looked at together, the first one in the lowest bits.
///
/// The tests are those of "Hacker's Delight" (Warren, 2nd edition, section 6-1): a mask in which the highest bit of a
/// byte is set if the test holds for it. A borrow can set bits wrongly, but only above the lowest one that is set rightly,
/// so the lowest set bit always tells the first byte of the kind.
struct ByteWord {
    let bits: UInt64

    /// Reads eight bytes, which the caller knows to be readable.
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

    /// Marks bytes that JSON does not allow in a string as they are: quotation marks, backslashes and control characters.
    @inline(__always)
    var needingEscape: UInt64 {
        let control = (bits &- Self.repeating(0x20)) & ~bits
        return (control | mark(UInt8(ascii: "\"")) | mark(UInt8(ascii: "\\"))) & Self.highBits
    }

    /// Marks the bytes that equal a given one; bits other than the highest of each byte mean nothing.
    @inline(__always)
    private func mark(_ byte: UInt8) -> UInt64 {
        let difference = bits ^ Self.repeating(byte)
        return (difference &- Self.repeating(1)) & ~difference
    }
}

extension UInt64 {
    /// The index of the first byte that a mask of ``ByteWord`` marks; 8 if it marks none.
    @inline(__always)
    var firstMarkedByte: Int { trailingZeroBitCount &>> 3 }
}
