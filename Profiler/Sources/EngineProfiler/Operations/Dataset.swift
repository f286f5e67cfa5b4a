import Bodega
import BodegaTesting
import Foundation

/// The items that are written, computed from a seed, so that none has to be kept to know what must be read.
///
/// A value tells its item and how often that was overwritten, followed by bytes that can't be compressed.
struct Dataset: Sendable {

    /// The fewest bytes of a value: they hold what it tells.
    static let smallestValue = 8

    /// How many items there are.
    let count: Int
    /// How many bytes a value has.
    let valueBytes: Int
    private let noise: [UInt8]

    /// Prepares the items.
    init(count: Int, valueBytes: Int, seed: UInt64) {
        self.count = count
        self.valueBytes = valueBytes
        var generator = SeededGenerator(seed: seed)
        noise = (0..<valueBytes + Self.offsets).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// How many different places there are in the noise that a value can begin at.
    private static let offsets = 1024

    /// The key of an item.
    func key(_ item: Int) -> CacheKey { CacheKey("item-\(item)") }

    /// The item that has a key, `nil` if none has.
    func item(_ key: CacheKey) -> Int? {
        key.rawValue.hasPrefix("item-") ? Int(key.rawValue.dropFirst("item-".count)) : nil
    }

    /// A key that no item has.
    func missingKey(_ number: UInt32) -> CacheKey { CacheKey("none-\(number)") }

    /// The value of an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - revision: How often it was overwritten.
    func value(_ item: Int, revision: UInt32) -> Data {
        let start = Int((UInt64(item) &* 0x9E37_79B9 &+ UInt64(revision) &* 31) % UInt64(Self.offsets))
        var data = Data(noise[start..<start + valueBytes])
        let header = UInt64(UInt32(truncatingIfNeeded: item)) << 32 | UInt64(revision)
        for place in 0..<Self.smallestValue {
            data[place] = UInt8(truncatingIfNeeded: header >> (8 * place))
        }
        return data
    }

    /// Checks a value.
    ///
    /// - Parameters:
    ///   - data: What was read; `nil` if nothing was.
    ///   - item: What was asked for.
    ///   - revision: How often it was overwritten; `nil` if any answer will do.
    /// - Throws: A ``CallFailure`` that says what is wrong.
    func check(_ data: Data?, _ item: Int, revision: UInt32?) throws {
        guard let data else { throw wrong(item, "expected \(valueBytes) bytes, got nothing") }
        guard data.count == valueBytes else {
            throw wrong(item, "expected \(valueBytes) bytes, got \(data.count)")
        }
        let found = data.prefix(4).enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (8 * $1.offset) }
        guard data == value(item, revision: revision ?? found) else {
            throw wrong(item, "got \(valueBytes) bytes that are not those written last")
        }
    }

    private func wrong(_ item: Int, _ what: String) -> CallFailure {
        CallFailure(key: key(item), message: what)
    }
}
