import Foundation

/// A checksum of values, which proves that they were read completely and correctly.
///
/// FNV-1a over words of eight bytes instead of single bytes, because a million items are summed.
enum Checksum {
    /// The sum of one value.
    static func of(_ data: Data) -> UInt64 {
        data.withUnsafeBytes { buffer in
            var sum = UInt64(0xCBF2_9CE4_8422_2325) ^ UInt64(buffer.count)
            var offset = 0
            while offset + 8 <= buffer.count {
                sum = (sum ^ buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x100_0000_01B3
                offset += 8
            }
            while offset < buffer.count {
                sum = (sum ^ UInt64(buffer[offset])) &* 0x100_0000_01B3
                offset += 1
            }
            return sum
        }
    }

    /// The sum of many values, which depends on their order.
    static func ofList(_ list: some Sequence<Data>) -> UInt64 {
        list.reduce(0) { ($0 ^ of($1)) &* 0x100_0000_01B3 &+ 1 }
    }

    /// The sum of many values in any order.
    static func ofSet(_ values: some Sequence<Data>) -> UInt64 {
        values.reduce(0) { $0 &+ of($1) }
    }
}
