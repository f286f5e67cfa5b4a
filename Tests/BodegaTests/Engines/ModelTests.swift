import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Model tests of all engines with one seed. Set `EMPORIUM_SEED` to repeat a failed run.
private let modelTests: [StorageEngineModelTest] = {
    print("model test: EMPORIUM_SEED=\(Seed.current)")
    return Engines.all.map { StorageEngineModelTest($0, seed: Seed.current, steps: TestSizes.modelSteps) }
}()

@Test(arguments: modelTests)
func `An engine and a dictionary agree after any operations`(_ test: StorageEngineModelTest) async throws {
    try await test.run()
}
