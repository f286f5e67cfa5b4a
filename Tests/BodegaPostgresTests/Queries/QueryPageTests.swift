#if Postgres
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import Bodega
@testable import BodegaPostgres

/// Queries that read several batches by an index of PostgreSQL. See also ``DifferentialPageTests``.
@Suite
struct QueryPageTests {

    /// All items in the order of a member.
    private static func query(isDescending: Bool) -> StorageQuery<CacheKey> {
        StorageQuery(condition: .opaque, order: [.init(path: "a", isDescending: isDescending)]) { entry, receive in
            entry.data.withUnsafeBytes { bytes in
                guard let document = JSONScanner.document(bytes) else { return nil }
                receive(entry.key)
                return [StorageSortKey(bytes, StorageIndex.Member("a").query.find(in: bytes, document))]
            }
        }
    }

    /// All matches, in pages.
    private static func pages(
        _ query: StorageQuery<CacheKey>, of engine: any StorageBackend, limit: Int
    ) async throws -> [CacheKey] {
        var keys: [CacheKey] = []
        var place: QueryPlace?
        while true {
            let page = try await query.page(from: StorageReader(engine), limit: limit, after: place)
            keys += page.matches
            guard page.hasMore, let last = page.places.last else { return keys }
            place = last
        }
    }

    @Test func `Ties that are longer than batches, and large items, come in insertion order`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "notes", options: .patient(maximumConnections: 2, partitions: 3))
        let index = StorageIndex("a")
        try await engine.createIndex(index)
        let items = (0..<3_000).map { number in
            let large = number % 500 == 7 ? String(repeating: "x", count: 40_000) : ""
            let value = number % 100 == 1 ? "null" : "\(number % 1_000 < 900 ? 1 : number % 7)"
            return (key: CacheKey("\(number)"), data: Data(#"{"a":\#(value),"b":"\#(large)"}"#.utf8))
        }
        try await engine.write(items)
        let memory = MemoryStorageEngine()
        try await memory.write(items)
        for isDescending in [true, false] {
            let query = Self.query(isDescending: isDescending)
            let expected = try await Self.pages(query, of: memory, limit: .max)
            for limit in [700, Int.max] {
                #expect(try await Self.pages(query, of: engine, limit: limit) == expected)
            }
        }
        let all = Locked<[StorageItem]>([])
        try await engine.scan([.all(after: nil)]) {
            { _, entry in
                all.withLock { $0.append(entry) }
                return true
            }
        }
        let entries = all.withLock { $0 }
        #expect(entries.map(\.key) == items.map(\.key))
        #expect(entries.map(\.data) == items.map(\.data))
        // The place in each scan counts.
        let middle = entries[1_500].position
        #expect(try await engine.count(.all(after: middle), upTo: .max) == 1_499)
        #expect(try await engine.count(.all(after: nil), upTo: 10) == 10)
        for isDescending in [true, false] {
            let request = FetchRequest([items[1_500].key], .place, index: index)
            let place = try #require(try await engine.fetch(request).value.first?.place)
            let scan = StorageScan.range(
                index, from: .start, to: .before(.none), isDescending: isDescending, after: place)
            let received = Locked(0)
            try await engine.scan([scan]) {
                { _, _ in
                    received.withLock { $0 += 1 }
                    return true
                }
            }
            #expect(try await engine.count(scan, upTo: .max) == received.withLock { $0 })
        }
    }
}
#endif
