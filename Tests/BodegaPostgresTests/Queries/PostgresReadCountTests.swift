#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// The number of items that a query reports to have read. The oracle is the server's `EXPLAIN (ANALYZE)`.
@Suite(.serialized)
struct PostgresReadCountTests {

    @Test(arguments: [0, 700, 1_000])
    func `A reader counts the rows that PostgreSQL returns`(place: Int) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "items", options: .patient(maximumConnections: 2, partitions: 2))
        try await engine.write((0..<1_000).map { (CacheKey("\($0)"), Data("{\"n\":\($0 * 7 % 1_000)}".utf8)) })
        try await engine.createIndex(StorageIndex("n", isForText: false))
        let keys = StorageSortKeyRanges(.before(.integer(Int64(place))), .before(.text("")))
        let query = StorageQuery<CacheKey>(
            condition: .member(path: MemberPath("n"), possible: keys, certain: keys, needsTextIndex: false),
            order: [QueryTerm(path: "n", isDescending: false)]
        ) { entry, receive in
            guard let key = entry.sortKey else { return nil }
            receive(entry.key)
            return [key]
        }
        let reader = StorageReader(engine)
        let found = try await query.page(from: reader, limit: .max, after: nil)
        #expect(found.matches.count == 1_000 - place)
        let call = SortKeyFunction.call(.init("n", isForText: false))
        let bytes = SortKeyBytes.bytes(of: .integer(Int64(place))).map { String(format: "%02x", $0) }.joined()
        let plan = try await schema.sql(
            """
            EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) SELECT FROM emporium_items
            WHERE collection = \(engine.number) AND \(call) >= '\\x\(bytes)'::bytea AND \(call) < 's'::bytea
            """)
        let rows = plan.firstMatch(of: /actual rows=([0-9]+)/).flatMap { Int($0.1) }
        #expect(rows == reader.itemCount, "\(plan)")
    }
}
#endif
