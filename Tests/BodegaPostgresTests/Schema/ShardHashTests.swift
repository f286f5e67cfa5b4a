#if Postgres
import Bodega
import Testing

@testable import BodegaPostgres

/// Programs of all versions must find each other's rows, so the shards never change.
@Test(arguments: [
    ("notes", CacheKey(""), 2519),
    ("notes", CacheKey("dolly-parton"), 3086),
    ("notes", CacheKey(verbatim: "dolly-parton"), 805),
    ("notes", CacheKey(rawValue: "example.com/a", kind: .url), 3471),
    ("drafts", CacheKey("dolly-parton"), 230),
    ("\u{FC}", CacheKey("\u{E9}"), 1375),
    ("notes", CacheKey("e\u{301}"), 360),
    ("notes", CacheKey("a\u{0}b"), 1093),
    ("notes", CacheKey(String(repeating: "k", count: 10_000)), 2933),
])
func `An item has the same shard in all versions`(collection: String, key: CacheKey, shard: Int16) {
    #expect(ItemKey(key, in: ShardHash(collection: collection)).shard == shard)
}

@Test func `Items are distributed evenly among shards`() {
    let hash = ShardHash(collection: "notes")
    var counts = [Int](repeating: 0, count: ShardHash.shardCount)
    for number in 0..<409_600 { counts[Int(ItemKey(CacheKey("item-\(number)"), in: hash).shard)] += 1 }
    #expect(counts.allSatisfy { (40...180).contains($0) })
}

@Test func `A long key is represented by its hash, which differs from any short key`() throws {
    let hash = ShardHash(collection: "notes")
    let (short, long) = (String(repeating: "k", count: 1_000), String(repeating: "k", count: 1_001))
    #expect(ItemKey(CacheKey(short), in: hash).long == nil)
    let key = ItemKey(CacheKey(long), in: hash)
    #expect(key.bytes.count == 33)
    #expect(key.bytes[0] == 0x10)
    #expect(key.full == [0] + Array(long.utf8))
    let restored = try key.full.withUnsafeBytes { try ItemKey.key($0) }
    #expect(restored == CacheKey(long))
}
#endif
