#if Postgres
import Bodega
import Crypto
import Foundation

/// How a key stands in a row.
///
/// - `bytes`, the column `key`: a byte that tells the kind, then the raw value, or the normal form of a URL, in UTF-8.
///   PostgreSQL's text can't hold every string, and an index can't hold every length: one of more than 1,000 bytes is
///   replaced by its SHA-256, with a mark in the first byte, and stands in the column `long_key`.
/// - `shard`: what rows are distributed by, see ``ShardHash``.
struct ItemKey: Sendable {

    let shard: Int16
    /// What the shard follows from; decides on the order within a shard.
    private let hash: UInt64
    let bytes: [UInt8]
    /// What a long key stands for, in the form that `bytes` has otherwise.
    let long: [UInt8]?

    init(_ key: CacheKey, in collection: ShardHash) {
        let identity = key.identity
        var full: [UInt8] = []
        full.reserveCapacity(identity.utf8.count + 1)
        full.append(Self.number(of: key.kind))
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

    /// The key with its kind, whatever its length.
    var full: [UInt8] { long ?? bytes }

    /// Reads a key.
    ///
    /// - Throws: A ``StorageError`` if it is not one that this could have written.
    static func key(_ bytes: UnsafeRawBufferPointer) throws -> CacheKey {
        guard let first = bytes.first, let kind = kind(of: first) else { throw damaged }
        let text = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        let identity = String(decoding: text, as: UTF8.self)
        // Repairing changes the bytes.
        guard identity.utf8.elementsEqual(text) else { throw damaged }
        return CacheKey(identity: identity, kind: kind)
    }

    /// A number that is never larger than that of a key that stands behind in the order in which rows are locked.
    var order: UInt64 { UInt64(UInt16(bitPattern: shard)) << 48 | hash >> 16 }

    /// Whether one stands before the other in the order in which rows are locked.
    static func < (left: ItemKey, right: ItemKey) -> Bool {
        if left.shard != right.shard { return left.shard < right.shard }
        if left.hash != right.hash { return left.hash < right.hash }
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    private static let longest = 1_001
    private static let longMark: UInt8 = 0x10

    private static func number(of kind: CacheKey.Kind) -> UInt8 {
        switch kind {
        case .hashed: 0
        case .verbatim: 1
        case .url: 2
        }
    }

    private static func kind(of number: UInt8) -> CacheKey.Kind? {
        CacheKey.Kind.allCases.first { self.number(of: $0) == number }
    }

    private static var damaged: StorageError {
        StorageError(.damaged, "The database holds a key that this version doesn't understand. It is still there.")
    }
}
#endif
