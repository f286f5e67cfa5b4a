#if Postgres
import Bodega
import BodegaPostgres
import TestSupport
import Testing

/// Lists that are sorted by several properties. The right ones come from Swift's arrays.
@Suite(.serialized)
struct PostgresOrderTests {

    @Test(arguments: [400, 2_000])
    func `A page of a sort by several properties reads what it needs in PostgreSQL`(count: Int) async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "chores", options: .patient(maximumConnections: 2, partitions: 2))
        for defect in try await ChoreList.findDefects(in: engine, count: count) { Issue.record("\(defect)") }
    }
}
#endif
