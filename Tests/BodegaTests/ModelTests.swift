import BodegaTesting
import Foundation
import Testing

/// Tests with one seed for all engines. Set `EMPORIUM_SEED` to repeat a run that failed.
private let modelTests: [StorageEngineModelTest] = {
    let seed = StorageEngineModelTest.seedFromEnvironment() ?? .random(in: 0...UInt64.max)
    print("EMPORIUM_SEED=\(seed)")
    return Engines.all.map { StorageEngineModelTest($0, seed: seed, steps: 3_000) }
}()

@Test(arguments: modelTests)
func `An engine and a dictionary agree after any operations`(_ test: StorageEngineModelTest) async throws {
    try await test.run()
}
