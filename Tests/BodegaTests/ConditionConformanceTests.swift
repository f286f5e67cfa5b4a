import BodegaTesting
import Testing

/// The engines of this package that have conditional batches.
private let engines = [
    Engines.memory, Engines.sqlite, Engines.relaxedSQLite, Engines.sqliteCollection, Engines.disk, Engines.relaxedDisk,
    Engines.restoredDisk,
]

@Test(arguments: engines.flatMap(StorageEngineConformance.conditionChecks(for:)))
func `Conditional batches keep the contract`(_ check: StorageEngineConformance.Case) async throws {
    try await check.run()
}
