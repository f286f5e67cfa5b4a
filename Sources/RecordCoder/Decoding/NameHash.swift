/// A hash of a member's name. It covers the length and the last eight bytes, in which names differ most.
struct NameHash {
    private let bits: UInt64

    @inline(__always)
    private init(_ bytes: UInt64, _ count: Int) {
        // The multiplier is from a mixing function by Degski. The product's highest bits depend on all input bits.
        bits = (bytes &+ UInt64(truncatingIfNeeded: count)) &* 0xD6E8_FEB8_6659_FD93
    }

    /// Hashes a name in a tape's text, after which eight more bytes are readable.
    @inline(__always)
    init(inTape name: UnsafePointer<UInt8>, _ count: Int) {
        if count >= 8 {
            self.init(ByteWord(at: name + (count &- 8)).bits, count)
        } else {
            // The bytes after the name are shifted out.
            self.init(ByteWord(at: name).bits << UInt64(truncatingIfNeeded: 64 &- 8 &* count), count)
        }
    }

    @inline(__always)
    init(_ name: UnsafePointer<UInt8>, _ count: Int) {
        if count >= 8 {
            self.init(ByteWord(at: name + (count &- 8)).bits, count)
        } else if count >= 4 {
            // The first four and the last four bytes, which may overlap.
            let head = UInt64(UInt32(littleEndian: UnsafeRawPointer(name).loadUnaligned(as: UInt32.self)))
            let end = UnsafeRawPointer(name + (count &- 4))
            let tail = UInt64(UInt32(littleEndian: end.loadUnaligned(as: UInt32.self)))
            self.init(tail << 32 | head << UInt64(truncatingIfNeeded: 64 &- 8 &* count), count)
        } else {
            var bytes: UInt64 = 0
            for index in 0..<count {
                bytes |= UInt64(name[index]) << UInt64(truncatingIfNeeded: 64 &- 8 &* (count &- index))
            }
            self.init(bytes, count)
        }
    }

    /// One of 64 bits.
    @inline(__always)
    var bit: UInt64 { 1 &<< (bits >> 58) }

    /// A slot in a table of ``Tape/nameCapacity`` slots. Different objects with the same name use different slots.
    @inline(__always)
    func place(in object: Int) -> Int {
        Int(truncatingIfNeeded: (bits >> 48) &+ UInt64(truncatingIfNeeded: object) &* 13) & (Tape.nameCapacity &- 1)
    }
}
