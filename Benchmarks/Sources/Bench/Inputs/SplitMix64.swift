import Foundation

/// A small generator of numbers that follow from a seed.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// A UUID of version 4.
    mutating func uuid() -> UUID {
        let high = next().bigEndian
        let low = next().bigEndian
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { buffer in
            buffer.storeBytes(of: high, toByteOffset: 0, as: UInt64.self)
            buffer.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
            buffer[6] = buffer[6] & 0x0F | 0x40
            buffer[8] = buffer[8] & 0x3F | 0x80
        }
        return UUID(uuid: bytes)
    }
}
