import Foundation

/// The metadata of an item's file: the key, the place in the order, the dates.
///
/// Stored, it is little-endian: version (1 byte), kind of the key (1), order (8), created (8), updated (8), raw value
/// of the key or the normal form of a URL (the rest, UTF-8). Dates are milliseconds since 1970.
struct DiskRecord: Equatable, Sendable {
    /// The key, `nil` if only its value is known, because Bodega 2 first wrote the file.
    var key: CacheKey?

    /// The place in the order, which grows with each insertion.
    var order: Int64

    var createdAt: Int64
    var updatedAt: Int64

    var dates: StorageDates {
        StorageDates(
            createdAt: Date(timeIntervalSince1970: Double(createdAt) / 1000),
            updatedAt: Date(timeIntervalSince1970: Double(updatedAt) / 1000)
        )
    }

    /// The milliseconds since 1970, limited to some 285,000 years around 1970. A date that is not a number becomes the
    /// first moment of 1970.
    static func milliseconds(_ date: Date) -> Int64 {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return milliseconds.isNaN ? 0 : Int64(min(max(milliseconds, -9e15), 9e15))
    }
}

extension DiskRecord {
    private static let version: UInt8 = 1
    private static let headerSize = 26

    /// Reads a record.
    ///
    /// - Returns: `nil` if the bytes are not a record of a known version.
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize, bytes[0] == Self.version else { return nil }
        func integer(at offset: Int) -> Int64 {
            Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
        }
        order = integer(at: 2)
        createdAt = integer(at: 10)
        updatedAt = integer(at: 18)
        guard let kind = Self.kind(of: bytes[1]) else {
            key = nil
            return
        }
        guard let text = String(validUTF8: UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...])) else {
            return nil
        }
        key = CacheKey(identity: text, kind: kind)
    }

    var bytes: [UInt8] {
        var bytes = [Self.version, Self.number(of: key?.kind)]
        for integer in [order, createdAt, updatedAt] {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: integer >> ($0 * 8)) }
        }
        bytes += key.map { [UInt8]($0.identity.utf8) } ?? []
        return bytes
    }

    /// Whether the bytes of a record say that the key is unknown, because Bodega 2 first wrote the file.
    static func isWithoutKey(_ bytes: [UInt8]) -> Bool { bytes.count >= headerSize && bytes[1] == number(of: nil) }

    private static func number(of kind: CacheKey.Kind?) -> UInt8 {
        switch kind {
        case .hashed: 0
        case .verbatim: 1
        case .url: 2
        case nil: 255
        }
    }

    private static func kind(of number: UInt8) -> CacheKey.Kind? {
        switch number {
        case 0: .hashed
        case 1: .verbatim
        case 2: .url
        default: nil
        }
    }
}
