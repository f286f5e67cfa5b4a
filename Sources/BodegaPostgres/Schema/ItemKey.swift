#if Postgres
import Bodega
import Crypto
import Foundation

/// The representation of a key in a row.
///
/// - `bytes`, the column `key`: a byte for the kind, then the raw value, or the normal form of a URL, in UTF-8.
///   PostgreSQL's `text` can't hold every string, and an index can't hold every length: a key of more than 1,000 bytes
///   is replaced by its SHA-256, with a flag in the first byte, and stored in the column `long_key`.
/// - `shard`: determines the partition of the row, see ``ShardHash``.
struct ItemKey: Sendable {

    let shard: Int16
    /// The hash that the shard is computed from. It determines the order within a shard.
    private let hash: UInt64
    let bytes: [UInt8]
    /// The unabridged bytes of a long key; `nil` for other keys.
    let long: [UInt8]?

    init(_ key: CacheKey, in collection: ShardHash) {
        let identity = key.identity
        var full: [UInt8] = []
        full.reserveCapacity(identity.utf8.count + 1)
        full.append(UInt8(key.kind.number))
        full.append(contentsOf: identity.utf8)
        var hash = collection
        hash.combine(full)
        shard = hash.shard
        self.hash = hash.state
        if full.count <= Self.longest {
            bytes = full
            long = nil
        } else {
            bytes = [full[0] | Self.longMark] + SHA256.hash(data: full.dropFirst())
            long = full
        }
    }

    /// The kind and the key, of any length.
    var full: [UInt8] { long ?? bytes }

    /// Decodes a key.
    ///
    /// - Throws: A ``/Bodega/StorageError`` if the bytes are not the representation of a key.
    static func key(_ bytes: UnsafeRawBufferPointer) throws -> CacheKey {
        guard let first = bytes.first, let kind = CacheKey.Kind(number: Int(first)) else { throw damaged }
        let text = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        let identity = String(decoding: text, as: UTF8.self)
        // Decoding replaces invalid UTF-8, which changes the bytes.
        guard identity.utf8.elementsEqual(text) else { throw damaged }
        return CacheKey(identity: identity, kind: kind)
    }

    /// The leading bits of the lock order. Of two keys, the one with the smaller number comes first.
    var order: UInt64 { UInt64(UInt16(bitPattern: shard)) << 48 | hash >> 16 }

    /// The order in which transactions lock rows.
    static func < (left: ItemKey, right: ItemKey) -> Bool {
        if left.shard != right.shard { return left.shard < right.shard }
        if left.hash != right.hash { return left.hash < right.hash }
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    private static let longest = 1_001
    private static let longMark: UInt8 = 0x10

    private static var damaged: StorageError {
        StorageError(
            .damaged, "The database has a key of an unknown form, which was left unchanged. Update this program.")
    }
}
#endif
