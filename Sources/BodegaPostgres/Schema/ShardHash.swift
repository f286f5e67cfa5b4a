#if Postgres
/// The hash that says in which of 4,096 shards an item is: FNV-1a of 64 bits
/// (http://www.isthe.com/chongo/tech/comp/fnv/index.html) over the collection's name in UTF-8, a byte 255, which no
/// name holds, and the key as ``ItemKey`` writes it; its halves are combined, and the low 12 bits of that are the
/// shard.
///
/// Programs must agree on it as long as there are rows, so it never changes.
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

    var shard: Int16 {
        Int16(truncatingIfNeeded: (state ^ (state >> 32)) & UInt64(Self.shardCount - 1))
    }
}
#endif
