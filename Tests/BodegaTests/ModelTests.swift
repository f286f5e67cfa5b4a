import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Tests with one seed for all engines. Set `EMPORIUM_SEED` to repeat a run that failed.
private let modelTests: [StorageEngineModelTest] = {
    print("model test: EMPORIUM_SEED=\(Seed.current)")
    return Engines.all.map { StorageEngineModelTest($0, seed: Seed.current, steps: 3_000) }
}()

@Test(arguments: modelTests)
func `An engine and a dictionary agree after any operations`(_ test: StorageEngineModelTest) async throws {
    try await test.run()
}
