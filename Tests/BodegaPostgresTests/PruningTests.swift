#if Postgres
import Bodega
import Foundation
import PostgresTesting
import Testing

@testable import BodegaPostgres

@Suite(.timeLimit(.minutes(10)))
struct PruningTests {

    /// The partitions that a statement reads with the shards of some keys.
    private func partitions(_ statement: Statement, keys: [CacheKey], _ schema: Schemas.Schema) async throws -> Set<
        String
    > {
        let keys = keys.map { ItemKey($0, in: ShardHash(collection: "notes")) }
        let shards = "'{\(keys.map { "\($0.shard)" }.joined(separator: ","))}'"
        let bytes =
            "ARRAY[\(keys.map { "'\\x\($0.bytes.map { String(format: "%02x", $0) }.joined())'::bytea" }.joined(separator: ","))]"
        let plan = try await schema.sql(
            """
            SET plan_cache_mode TO force_custom_plan;
            PREPARE examined (integer, smallint[], bytea[]) AS \(statement.sql);
            EXPLAIN (COSTS off) EXECUTE examined (1, \(shards), \(bytes))
            """
        )
        let names = plan.matches(of: /emporium_items_[0-9]+(?=[ \n]|$)/).map { String($0.output) }
        return Set(names)
    }

    @Test(arguments: [ItemStatements.dataOfMany, ItemStatements.placesOfMany, ItemStatements.removeMany].map(\.sql))
    func `An operation on some keys touches only the partitions that have them`(sql: String) async throws {
        let schema = try await Schemas.shared.schema()
        _ = try await PostgresStorageEngine(connecting: schema.url, collection: "notes")
        let one = try await partitions(Statement(sql), keys: [CacheKey("a")], schema)
        #expect(one.count == 1)
        let two = try await partitions(Statement(sql), keys: [CacheKey("a"), CacheKey("b"), CacheKey("a")], schema)
        #expect((1...2).contains(two.count) && two.isSuperset(of: one))
        let all = try await partitions(Statement(sql), keys: (0..<200).map { CacheKey("\($0)") }, schema)
        #expect(all.count == 8)
    }
}
#endif
