#if Postgres
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Searches by an index, compared with FTS5.
@Suite
struct PostgresSearchTests {
    private static let index = SearchedItems.index

    /// A session of another program.
    private static func session(_ url: String) async throws -> Session {
        try await SessionPool(target: ConnectionTarget(url), limit: 1, connectTimeout: 60).makeSession(
            until: .after(60))
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey(verbatim: "k\(number)") }

    /// Statements of a program that does not know this package, on the items of a collection of three partitions.
    private static func statements(
        _ engine: PostgresStorageEngine, _ other: PostgresStorageEngine, _ random: inout SeededGenerator
    ) -> [String] {
        func place(_ engine: PostgresStorageEngine, _ number: Int) -> (key: ItemKey, isHere: String) {
            let key = ItemKey(key(number), in: engine.shards)
            let bytes = "'\\x\(key.bytes.hexadecimal)'"
            return (key, "collection = \(engine.number) AND shard = \(key.shard) AND key = \(bytes)")
        }
        func row(_ number: Int, _ data: String) -> String {
            let key = ItemKey(key(number), in: engine.shards)
            let columns = "'\\x\(key.bytes.hexadecimal)', nextval('emporium_positions') * 4194304, 0, 0, \(data)"
            return "(\(key.shard), \(engine.number), \(columns))"
        }
        let numbers = (0..<3).map { _ in Int.random(in: 0..<30, using: &random) }
        let data = (0..<3).map { _ in "'\\x\(SearchedItems.json(&random).hexadecimal)'::bytea" }
        let (first, second) = (place(engine, numbers[0]), place(engine, numbers[1]))
        let columns = "(shard, collection, key, position, created_at, updated_at, data)"
        let rows = Set(numbers).enumerated().map { row($1, data[$0]) }.joined(separator: ", ")
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return ["INSERT INTO emporium_items \(columns) VALUES \(rows) ON CONFLICT DO NOTHING"]
        case 1:
            return [
                """
                INSERT INTO emporium_items \(columns) VALUES \(rows)
                ON CONFLICT (shard, collection, key) DO UPDATE SET data = excluded.data
                """
            ]
        case 2: return ["UPDATE emporium_items SET data = \(data[0]) WHERE \(first.isHere) OR \(second.isHere)"]
        case 3: return ["DELETE FROM emporium_items WHERE \(first.isHere) OR \(second.isHere)"]
        case 4: return ["UPDATE emporium_items SET updated_at = updated_at + 1 WHERE collection = \(engine.number)"]
        case 5:
            // Another key, and so another partition.
            return [
                "DELETE FROM emporium_items WHERE \(second.isHere) AND NOT (\(first.isHere))",
                """
                UPDATE emporium_items SET shard = \(second.key.shard), key = '\\x\(second.key.bytes.hexadecimal)'
                WHERE \(first.isHere)
                """,
            ]
        case 6:
            return [
                """
                UPDATE emporium_items SET position = nextval('emporium_positions') * 4194304 WHERE \(first.isHere)
                """
            ]
        case 7: return ["BEGIN", "DELETE FROM emporium_items", "ROLLBACK"]
        case 8: return ["UPDATE emporium_items_1 SET data = \(data[0]) WHERE collection = \(engine.number)"]
        case 9: return ["BEGIN", "DELETE FROM emporium_items_\(numbers[0] % 3) WHERE \(first.isHere)", "COMMIT"]
        case 10:
            return [
                """
                UPDATE emporium_items SET collection = \(other.number) WHERE \(first.isHere)
                    AND NOT EXISTS (SELECT FROM emporium_items WHERE \(place(other, numbers[0]).isHere))
                """
            ]
        default:
            return Int.random(in: 0..<4, using: &random) == 0
                ? [Bool.random(using: &random) ? "TRUNCATE emporium_items" : "TRUNCATE emporium_items_0"]
                : [
                    "SET session_replication_role = replica", "DELETE FROM emporium_items WHERE \(first.isHere)",
                    "RESET session_replication_role",
                ]
        }
    }

    @Test("A search finds what FTS5 finds in the items, after any changes by any program, with parts of them indexed")
    func anyChanges() async throws {
        for seed in Seed.current..<Seed.current + UInt64(max(TestSizes.queries / 200, 4)) {
            var random = SeededGenerator(seed: seed)
            let schema = try await Schemas.shared.schema()
            let engine = try await PostgresStorageEngine(
                connecting: schema.url, collection: "notes", options: .patient(partitions: 3))
            let other = try await engine.collection(named: "other")
            let keys = (0..<30).map(Self.key)
            for key in keys.prefix(Int.random(in: 0...30, using: &random)) {
                try await engine.write(SearchedItems.json(&random), key: key)
                try await other.write(SearchedItems.json(&random), key: key)
            }
            try await engine.createIndex(Self.index)
            let session = try await Self.session(schema.url)
            for step in 0..<24 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: while try await engine.database.searchUpdates.update(engine.number) { continue }
                case 1: try await engine.write(SearchedItems.json(&random), key: SearchSamples.pick(keys, &random))
                case 2: try await engine.remove(key: SearchSamples.pick(keys, &random))
                case 3:
                    let operations = keys.shuffled(using: &random).prefix(5).map {
                        StorageOperation.write(key: $0, data: SearchedItems.json(&random))
                    }
                    _ = try await engine.apply(StorageBatch(Array(operations)))
                case 4 where Int.random(in: 0..<6, using: &random) == 0: try await engine.removeAllData()
                default:
                    for statement in Self.statements(engine, other, &random) {
                        _ = try await session.run(Command(Statement(statement)), patience: 60)
                    }
                }
                if step % 4 == 3 {
                    #expect(try await engine.fetchIndexes() == [Self.index], "seed \(seed)")
                    try await SearchedItems.check(engine, &random, "seed \(seed), step \(step)")
                }
            }
            await engine.close()
            try await schema.drop()
        }
    }
}
#endif
