import Bodega
import BodegaTesting
import Foundation

/// The items, computed from a seed, so that expected values need not be kept.
///
/// A value contains its item's number and revision, followed by bytes that can't be compressed.
struct Dataset: Sendable {

    /// The minimum size of a value in bytes: the size of the number and the revision.
    static let smallestValue = 8

    /// The number of items.
    let count: Int
    /// The size of a value in bytes.
    let valueBytes: Int
    private let noise: [UInt8]

    /// Creates a dataset.
    init(count: Int, valueBytes: Int, seed: UInt64) {
        self.count = count
        self.valueBytes = valueBytes
        var generator = SeededGenerator(seed: seed)
        noise = (0..<valueBytes + Self.offsets).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// The number of positions in the noise at which a value can start.
    private static let offsets = 1024

    /// The key of an item.
    func key(_ item: Int) -> CacheKey { CacheKey("item-\(item)") }

    /// The item with a key, `nil` if there is none.
    func item(_ key: CacheKey) -> Int? {
        key.rawValue.hasPrefix("item-") ? Int(key.rawValue.dropFirst("item-".count)) : nil
    }

    /// A key without an item.
    func missingKey(_ number: UInt32) -> CacheKey { CacheKey("none-\(number)") }

    /// The value of an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - revision: How often the item has been overwritten.
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
    ///   - data: The value that was read, `nil` if there was none.
    ///   - item: The requested item.
    ///   - revision: How often the item has been overwritten; `nil` to accept any revision.
    /// - Throws: A ``CallFailure`` if the value is wrong.
    func check(_ data: Data?, _ item: Int, revision: UInt32?) throws {
        guard let data else { throw wrong(item, "expected \(valueBytes) bytes, got nothing") }
        guard data.count == valueBytes else {
            throw wrong(item, "expected \(valueBytes) bytes, got \(data.count)")
        }
        let found = data.prefix(4).enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (8 * $1.offset) }
        guard data == value(item, revision: revision ?? found) else {
            throw wrong(item, "got \(valueBytes) bytes that differ from the last write")
        }
    }

    private func wrong(_ item: Int, _ what: String) -> CallFailure {
        CallFailure(key: key(item), message: what)
    }
}
