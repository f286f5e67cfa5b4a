#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite
struct PruningTests {

    /// Returns the partitions in the plan of a statement on some keys.
    private func partitions(_ statement: KeyedStatement, _ keys: [CacheKey], _ session: Session) async throws -> Set<
        String
    > {
        var command = statement.command(collection: 1, keys.map { ItemKey($0, in: ShardHash(collection: "notes")) })
        command.statement = Statement("EXPLAIN (COSTS off) " + command.statement.sql)
        let plan = try await session.run(command, patience: 60)
        let lines = try (0..<plan.count).map { try plan.text($0, 0) }
        return Set(lines.flatMap { $0.matches(of: /on (emporium_items_[0-9]+)/).map { String($0.output.1) } })
    }

    @Test func `An operation on a few keys accesses only their partitions`() async throws {
        let schema = try await Schemas.shared.schema()
        _ = try await PostgresStorageEngine(connecting: schema.url, collection: "notes", options: .patient())
        let pool = SessionPool(target: try ConnectionTarget(schema.url), limit: 1, connectTimeout: 60)
        let session = try await pool.makeSession(until: .after(60))
        let statements = [
            ItemColumns(.data).statement(), ItemColumns(.data).statement(upTo: 1_000), ItemColumns([]).statement(),
            ItemColumns([.data, .dates]).statement(), ItemStatements.removeMany, ItemStatements.lockMany,
        ]
        for statement in statements {
            let one = try await partitions(statement, [CacheKey("a")], session)
            #expect(one.count == 1)
            let two = try await partitions(statement, [CacheKey("a"), CacheKey("b"), CacheKey("a")], session)
            #expect((1...2).contains(two.count) && two.isSuperset(of: one))
            #expect(try await partitions(statement, (0..<200).map { CacheKey("\($0)") }, session).count == 8)
        }
    }
}
#endif
