import BodegaTesting
import Foundation

/// The seed of randomized tests: `EMPORIUM_SEED` if it is set, to repeat a run, otherwise a new one.
package enum Seed {
    package static let current = StorageEngineModelTest.seedFromEnvironment() ?? .random(in: 0...UInt64.max)
}
