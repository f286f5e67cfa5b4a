import BodegaTesting
import Testing

/// The engines of this package that can be queried.
private let engines =
    [Engines.memory]
    + [Engines.sqlite, Engines.relaxedSQLite, Engines.restoredSQLite, Engines.sqliteCollection].map {
        var configuration = $0
        configuration.capabilities.insert(.indexed)
        return configuration
    }

@Test(arguments: engines.flatMap(StorageEngineConformance.queryChecks(for:)))
func `Queries keep the contract`(_ check: StorageEngineConformance.Case) async throws {
    try await check.run()
}
