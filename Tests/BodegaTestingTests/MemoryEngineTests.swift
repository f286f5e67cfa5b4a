import Bodega
import BodegaTesting
import Foundation
import Testing

@Suite struct `The memory engine` {

    static let configuration = StorageEngineConformance.Configuration(
        "MemoryStorageEngine",
        capabilities: .all.subtracting(.persistent)
    ) { workspace in MemoryStorageEngine(now: workspace.clock.now) }

    /// The doubles change nothing unless told to.
    static let throughDoubles = StorageEngineConformance.Configuration(
        "Memory through the doubles",
        capabilities: .all.subtracting(.persistent)
    ) { workspace in
        RecordingStorageEngine(FaultInjectingStorageEngine(MemoryStorageEngine(now: workspace.clock.now)))
    }

    @Test(arguments: [configuration, throughDoubles].flatMap(StorageEngineConformance.checks(for:)))
    func `conforms`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }
}
