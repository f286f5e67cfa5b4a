import Foundation

/// The metadata of an item's file: the key, the place in the order, the dates.
///
/// Stored, it is little-endian: version (1 byte), kind of the key (1), order (8), created (8), updated (8), raw value
/// of the key or the normal form of a URL (the rest, UTF-8). Dates are milliseconds since 1970. A value that is a UUID
/// takes 16 bytes, because common volumes have 56 bytes for the record beside a file's status, and need another block
/// for a longer one.
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
    private static let unknownKind: UInt8 = 255

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
        let spelling = UUIDSpelling(rawValue: bytes[1] & UUIDSpelling.mask)
        guard let kind = CacheKey.Kind(number: Int(spelling == nil ? bytes[1] : bytes[1] & ~UUIDSpelling.mask)) else {
            key = nil
            return
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...])
        guard let text = spelling == nil ? String(validUTF8: rest) : spelling?.text(of: rest) else { return nil }
        key = CacheKey(identity: text, kind: kind)
    }

    var bytes: [UInt8] {
        let uuid = key.flatMap { UUIDSpelling.parse($0.identity) }
        var bytes = [
            Self.version, (key.map { UInt8($0.kind.number) } ?? Self.unknownKind) | (uuid?.spelling.rawValue ?? 0),
        ]
        for integer in [order, createdAt, updatedAt] {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: integer >> ($0 * 8)) }
        }
        bytes += uuid?.bytes ?? key.map { [UInt8]($0.identity.utf8) } ?? []
        return bytes
    }

    /// Whether the bytes of a record say that the key is unknown, because Bodega 2 first wrote the file.
    static func isWithoutKey(_ bytes: [UInt8]) -> Bool { bytes.count >= headerSize && bytes[1] == unknownKind }
}

/// How a text that is a UUID is spelled, as two bits beside the kind of the key.
private enum UUIDSpelling: UInt8 {
    case upperCase = 0x10
    case lowerCase = 0x20

    static let mask: UInt8 = 0x30

    /// - Returns: `nil` for a text that is not a UUID, or one of mixed case.
    static func parse(_ text: String) -> (spelling: UUIDSpelling, bytes: [UInt8])? {
        guard text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
        for spelling in [upperCase, lowerCase] where spelling.text(of: uuid) == text {
            return (spelling, withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) })
        }
        return nil
    }

    /// - Returns: `nil` for another number of bytes.
    func text(of bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count == MemoryLayout<uuid_t>.size else { return nil }
        return text(of: UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    }

    private func text(of uuid: UUID) -> String {
        self == .upperCase ? uuid.uuidString : uuid.uuidString.lowercased()
    }
}
