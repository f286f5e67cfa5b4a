import Foundation
import TestSupport
import Testing

@testable import Bodega

private struct Ranked: Queryable {
    var rank: Int

    static let indexes = [Index("rank", \Ranked.rank)]
}

/// Filters that programs write, longer than a person would.
@Suite struct LongFilterTests {

    @Test("A filter with many alternatives or conditions does not exhaust the stack")
    func manyTerms() async throws {
        let storage = ObjectStorage<Ranked>(storage: MemoryStorageEngine())
        for rank in 0..<5 { try await storage.store(Ranked(rank: rank), forKey: CacheKey(verbatim: "\(rank)")) }
        let alternatives = (3..<20_000).map { "@.rank == \($0)" }.joined(separator: " || ")
        #expect(try await storage.fetch(Query(matching: alternatives)).objects.map(\.rank) == [3, 4])
        let conditions = (3..<20_000).map { "@.rank != \($0)" }.joined(separator: " && ")
        #expect(try await storage.fetch(Query(matching: conditions)).objects.map(\.rank) == [0, 1, 2])
    }

    @Test("Nested functions are an error before they exhaust the stack", arguments: [101, 100_000])
    func nestedFunctions(count: Int) {
        let open = String(repeating: "length(", count: count), close = String(repeating: ")", count: count)
        #expect(throws: StorageError.self) { try Query<Ranked>(matching: "\(open)@.rank\(close) == 1") }
    }

    @Test("Operators keep their precedence in a long filter")
    func precedence() async throws {
        let storage = ObjectStorage<Ranked>(storage: MemoryStorageEngine())
        for rank in 0..<8 { try await storage.store(Ranked(rank: rank), forKey: CacheKey(verbatim: "\(rank)")) }
        let filter = "@.rank == 0 || @.rank > 1 && @.rank < 4 && @.rank != 2 || @.rank == 5 || !(@.rank < 7)"
        #expect(try await storage.fetch(Query(matching: filter)).objects.map(\.rank) == [0, 3, 5, 7])
    }
}
