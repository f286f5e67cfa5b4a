#if Postgres
import Bodega

/// The representation of a sort key in an index: bytes whose order is that of the keys.
///
/// - A number is `n`, the nearest `Double` in 8 bytes, and in 2 bytes 0x8000 plus the difference between the number and
///   that `Double`, which is 0 for all but integers beyond 2^53. The bits of a positive `Double` have the order of the
///   numbers as they are, but for the sign; those of a negative one the opposite order.
/// - A text is `s` and its UTF-8.
/// - No value is `~`.
/// - `?` stands for an item about which the index knows nothing.
enum SortKeyBytes {

    static let irregular = [UInt8(ascii: "?")]
    static let firstNumber = [UInt8(ascii: "n")]
    static let none = [UInt8(ascii: "~")]

    static func bytes(of key: StorageSortKey) -> [UInt8] {
        switch key {
        case .integer(let integer):
            let number = Double(integer)
            // 2^63 is not an Int64.
            let difference = number == 0x1p63 ? integer - .max - 1 : integer - Int64(number)
            return bytes(of: number, difference)
        case .real(let number): return bytes(of: number, 0)
        case .text(let text): return [UInt8(ascii: "s")] + text.utf8
        case .none: return none
        }
    }

    private static func bytes(of number: Double, _ difference: Int64) -> [UInt8] {
        let bits = (number == 0 ? 0 : number).bitPattern
        var bytes = firstNumber
        bytes.appendBigEndian(bits >> 63 == 1 ? ~bits : bits ^ (1 << 63))
        bytes.appendBigEndian(UInt16(0x8000 + difference))
        return bytes
    }

    /// Decodes a sort key.
    ///
    /// - Returns: `nil` for the bytes of an item about which the index knows nothing.
    static func key(_ bytes: UnsafeRawBufferPointer) throws -> StorageSortKey? {
        switch bytes.first {
        case irregular[0]: return nil
        case none[0]: return StorageSortKey.none
        case UInt8(ascii: "s"):
            return .text(String(decoding: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), as: UTF8.self))
        case firstNumber[0] where bytes.count == 11:
            let bits = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
            let difference = Int64(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt16.self))) - 0x8000
            let number = Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
            if difference == 0 { return StorageSortKey(number) }
            return .integer(number == 0x1p63 ? .max + (1 + difference) : Int64(number) + difference)
        default:
            throw PostgresFailure(.unexpectedAnswer, "A sort key in a result has an unknown form.")
        }
    }
}
#endif
