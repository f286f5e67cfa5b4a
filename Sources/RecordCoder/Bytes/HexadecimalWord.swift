/// Eight hexadecimal digits, the first one in the lowest byte.
struct HexadecimalWord {
    private let bits: UInt64

    /// Reads eight bytes.
    @inline(__always)
    init(_ text: UnsafePointer<UInt8>) {
        bits = ByteWord(at: text).bits
    }

    /// Reads four bytes at each of two addresses.
    @inline(__always)
    init(_ first: UnsafePointer<UInt8>, _ second: UnsafePointer<UInt8>) {
        let low = UInt32(littleEndian: UnsafeRawPointer(first).loadUnaligned(as: UInt32.self))
        let high = UInt32(littleEndian: UnsafeRawPointer(second).loadUnaligned(as: UInt32.self))
        bits = UInt64(high) << 32 | UInt64(low)
    }

    /// The number, or `nil` if a byte is not a digit.
    @inline(__always)
    var value: UInt32? {
        let lower = bits | ByteWord.repeating(0x20)
        // If all bytes are below 0x80, additions and subtractions don't carry from one byte to the next.
        let digits = isInside(bits, UInt8(ascii: "0"), UInt8(ascii: "9"))
        let letters = isInside(lower, UInt8(ascii: "a"), UInt8(ascii: "f"))
        guard bits & ByteWord.highBits == 0, (digits | letters) & ByteWord.highBits == ByteWord.highBits else {
            return nil
        }
        // A letter's lowest four bits count from one, and only letters have bit 6 set.
        var value = (bits & ByteWord.repeating(0x0F)) &+ (bits >> 6 & ByteWord.repeating(1)) &* 9
        // Combine pairs of digits, then of bytes, then of 16 bits; the first of each pair is the more significant one.
        value = (value &<< 4 | value >> 8) & 0x00FF_00FF_00FF_00FF
        value = (value &<< 8 | value >> 16) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: value &<< 16 | value >> 32)
    }

    /// Marks bytes below 0x80 that are in a range, by their highest bit.
    @inline(__always)
    private func isInside(_ bits: UInt64, _ lowest: UInt8, _ highest: UInt8) -> UInt64 {
        let notBelow = (bits | ByteWord.highBits) &- ByteWord.repeating(lowest)
        let above = (bits & ~ByteWord.highBits) &+ ByteWord.repeating(0x7F &- highest)
        return notBelow & ~above
    }
}
