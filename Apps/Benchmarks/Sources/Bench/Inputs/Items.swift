import Bodega
import BodegaTesting
import CoderInputs
import Foundation

/// The items of the benchmarks, the same in every session.
enum Items {
    /// The sort order of keys relative to the order of writes.
    enum Order {
        /// Like the numbers of a counter: each new key sorts after all others.
        case ascending
        /// Like UUIDs: a new key can sort anywhere, so writes are spread over the whole index.
        case random
    }

    /// Creates items with values of 380 to 420 bytes.
    ///
    /// - Parameters:
    ///   - count: The number of items.
    ///   - start: The number of the first item, so that successive calls can create different items.
    ///   - order: The sort order of the keys.
    static func make(
        _ count: Int,
        startingAt start: Int = 0,
        order: Order = .ascending
    ) -> [(key: CacheKey, data: Data)] {
        (start..<start + count).map { index in
            var random = SeededGenerator(seed: UInt64(index))
            let size = 380 + Int(random.next() % 41)
            return (key(index, order, &random), bytes(size, &random))
        }
    }

    private static func key(_ index: Int, _ order: Order, _ random: inout SeededGenerator) -> CacheKey {
        switch order {
        case .ascending:
            let digits = String(index)
            return CacheKey("item-" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits)
        case .random:
            return CacheKey(random.uuid().uuidString)
        }
    }

    private static func bytes(_ size: Int, _ random: inout SeededGenerator) -> Data {
        var bytes = Data(count: size)
        bytes.withUnsafeMutableBytes { buffer in
            for offset in stride(from: 0, to: size, by: 8) {
                withUnsafeBytes(of: random.next().littleEndian) { word in
                    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<min(offset + 8, size)])
                    part.copyMemory(from: UnsafeRawBufferPointer(rebasing: word[..<part.count]))
                }
            }
        }
        return bytes
    }
}
