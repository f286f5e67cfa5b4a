#if Postgres
import Bodega
import Foundation
import RecordCoder
import TestSupport
import Testing

@testable import BodegaPostgres

/// Indexes of some items. The oracle is the server's `EXPLAIN (ANALYZE)`.
@Suite(.serialized)
struct PartialItemIndexTests {

    private let index = StorageIndex("n", isForText: false)
        .where("state", equals: .text("it's \u{E9}"), isForText: true).where("isOpen", equals: .integer(1))

    private func engine(_ schema: Schemas.Schema) async throws -> PostgresStorageEngine {
        try await PostgresStorageEngine(
            connecting: schema.url, collection: "items", options: .patient(maximumConnections: 2, partitions: 2))
    }

    @Test func `The server reads the rows that a query reports, by the index, which has no others`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        func item(_ number: Int) -> (CacheKey, Data) {
            let isOpen = number % 10 == 0
            let text = "{\"n\":\(number * 7 % 1_000),\"isOpen\":\(isOpen),\"state\":\"it's \u{E9}\"}"
            return (CacheKey("\(number)"), Data(text.utf8))
        }
        try await engine.write((0..<500).map(item))
        try await engine.createIndex(index)
        try await engine.write((500..<1_000).map(item))
        #expect(try await engine.fetchIndexes() == [index])
        let filter = try JSONFilterParser.parse("@.isOpen == true && @.state == \"it's \u{E9}\"")
        let query = StorageQuery<CacheKey>(
            condition: filter.condition, order: [QueryTerm(path: "n", isDescending: false)]
        ) { item, receive in
            let isMatch = item.data.withUnsafeBytes { filter.accepts($0, 0..<$0.count) }
            if isMatch { receive(item.key) }
            return isMatch ? [item.sortKey ?? .none] : nil
        }
        let reader = StorageReader(engine)
        let page = try await query.page(from: reader, limit: 20, after: nil)
        #expect(page.matches.count == 20)
        #expect(page.plan.explanation.contains("where @.state"), "\(page.plan.explanation)")
        #expect(reader.itemCount == 21)
        let all = StorageReader(engine)
        #expect(try await query.page(from: all, limit: .max, after: nil).matches.count == 100)
        var statement = try ScanStatement(
            collection: engine.number, index: index,
            equal: [.text("it's \u{E9}"), .integer(1)].map(SortKeyBytes.bytes))
        statement.require(from: .start, to: .before(.none))
        let session = try await SessionPool(
            target: ConnectionTarget(schema.url), limit: 1, connectTimeout: 60
        ).makeSession(until: .after(60))
        let rows = statement.rows(.ascending, limit: 1_000)
        let explain = Command(
            Statement("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) " + rows.statement.sql), rows.parameters)
        let results = try await session.run([Command(Statement("BEGIN")), ScanStatement.useIndex, explain])
        let answer = try #require(results.last)
        let plan = try (0..<answer.count).map { try answer.text($0, 0) }.joined(separator: "\n")
        // Each item of the index is read once, and nothing is filtered afterwards.
        #expect(plan.matches(of: /Index Scan using/).count == 2, "\(plan)")
        #expect(!plan.contains("Filter"), "\(plan)")
        let read = plan.matches(of: /Index Scan .*actual rows=([0-9]+)/).compactMap { Int($0.1) }.reduce(0, +)
        #expect(read == all.itemCount, "\(plan)")
        // The server counts the entries when it collects statistics.
        _ = try await session.run(Command(Statement("ROLLBACK")))
        _ = try await session.run(Command(Statement("ANALYZE emporium_items")))
        let entries = try await schema.sql(
            """
            SELECT sum(c.reltuples)::int FROM pg_class AS c WHERE c.relkind = 'i'
            AND c.relnamespace = '\(schema.name)'::regnamespace AND c.relname LIKE 'emporium\\_index%'
            """)
        #expect(entries == "100")
        try await engine.removeIndex(index)
        #expect(try await engine.fetchIndexes() == [])
    }

    @Test func `Conditions have any texts, integers and null, and no others`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await engine(schema)
        let constants: [StorageSortKey] = [
            .none, .integer(-7), .integer((1 << 48) - 1), .text(""), .text("null"), .text("7"), .text("\u{301}"),
            .text("\u{E9}"), .text("e\u{301}"), .text("\\'\""),
        ]
        var indexes: Set<StorageIndex> = []
        for (number, constant) in constants.enumerated() {
            let index = StorageIndex("a").where("b", equals: constant, isForText: number % 2 == 0)
            indexes.insert(index)
            try await engine.createIndex(index)
        }
        #expect(indexes.count == constants.count)
        #expect(try await engine.fetchIndexes() == indexes)
        for constant in [StorageSortKey.real(1.5), .integer(1 << 48), .text("a\0")] {
            let index = StorageIndex("a").where("b", equals: constant)
            await #expect(throws: StorageError.self) { try await engine.createIndex(index) }
        }
    }
}
#endif
