import Bodega
import BodegaTesting
import Testing

@Suite struct `Doubles that were told nothing` {

    static let configuration = StorageEngineConformance.Configuration(
        "Memory through the doubles",
        capabilities: .all.subtracting(.persistent)
    ) { workspace in
        RecordingStorageEngine(FaultInjectingStorageEngine(MemoryStorageEngine(now: workspace.clock.now)))
    }

    @Test(arguments: StorageEngineConformance.checks(for: configuration))
    func `change nothing`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }
}
