#if Postgres
import Bodega
import BodegaPostgres
import TestSupport
import Testing

/// Random queries of collections in PostgreSQL, each with other indexes, and all in one table.
@Suite(.serialized)
struct DifferentialPageTests {

    @Test func `Random queries find the same in PostgreSQL as a naive search`() async throws {
        print("random queries of PostgreSQL: EMPORIUM_SEED=\(Seed.current)")
        let schema = try await Schemas.shared.schema()
        let plain = try await PostgresStorageEngine(
            connecting: schema.url, collection: "plain", options: .patient(maximumConnections: 2, partitions: 2))
        let valued = try await plain.collection(named: "valued")
        let textual = try await plain.collection(named: "textual")
        let compound = try await plain.collection(named: "compound")
        try await QueriedEngine.createCompoundIndexes(of: compound)
        let partial = try await plain.collection(named: "partial")
        try await QueriedEngine.createPartialIndexes(of: partial)
        // The indexes are exact.
        let paths = ModelSamples.paths + [ModelSamples.hardPath]
        try await QueriedEngine.createIndexes(of: valued, over: paths, forText: false)
        try await QueriedEngine.createIndexes(of: textual, over: paths, forText: true)
        let engines = [
            QueriedEngine("PostgreSQL", plain), QueriedEngine("PostgreSQL with indexes", valued, share: 3),
            QueriedEngine("PostgreSQL with indexes for text", textual, share: 3),
            QueriedEngine("PostgreSQL with compound indexes", compound, share: 3),
            QueriedEngine("PostgreSQL with partial indexes", partial, share: 3),
        ]
        // Half of the rounds have more items than a batch.
        let defects = try await DifferentialQueries.findDefects(
            cases: TestSizes.queries / 7, seed: Seed.current, engines: engines,
            sizes: [0, 5, 20, 30, 100, 150, 200, 300])
        for defect in defects { Issue.record("\(defect)") }
    }
}
#endif
