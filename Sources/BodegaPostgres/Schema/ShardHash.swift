#if Postgres
/// The hash that assigns an item to one of 4,096 shards.
///
/// It is 64-bit FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/index.html) over the collection's name in UTF-8, a
/// byte 255, which no name has, and the key as ``ItemKey`` stores it. The shard is the low 12 bits of the halves' XOR.
///
/// All programs must compute the same shard for stored rows, so the hash never changes.
struct ShardHash: Sendable {

    static let shardCount = 4_096

    private(set) var state: UInt64 = 0xcbf2_9ce4_8422_2325

    init(collection: String) {
        combine(collection.utf8)
        combine(CollectionOfOne(255))
    }

    mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }

    var shard: Int16 { Int16(truncatingIfNeeded: (state ^ (state >> 32)) & UInt64(Self.shardCount - 1)) }
}
#endif
