import Bodega
import BodegaTesting
import Foundation
import Testing

/// The engines of this package that have change feeds.
private let engines = [
    Engines.memory, shared(Engines.sqlite), shared(Engines.relaxedSQLite), shared(Engines.restoredSQLite),
    shared(Engines.sqliteCollection),
]

private func shared(_ configuration: Engines.Configuration) -> Engines.Configuration {
    var configuration = configuration
    configuration.capabilities.insert(.shared)
    return configuration
}

@Test(arguments: engines.flatMap(StorageEngineConformance.changeFeedChecks(for:)))
func `A change feed keeps the contract`(_ check: StorageEngineConformance.Case) async throws {
    try await check.run()
}
