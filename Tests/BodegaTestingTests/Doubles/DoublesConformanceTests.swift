import Bodega
import BodegaTesting
import Testing

@Suite struct `Doubles without faults` {

    static let configuration = StorageEngineConformance.Configuration(
        "Memory through the doubles",
        capabilities: .all.subtracting(.persistent)
    ) { workspace in
        RecordingStorageEngine(FaultInjectingStorageEngine(MemoryStorageEngine(now: workspace.clock.now)))
    }

    @Test(arguments: StorageEngineConformance.checks(for: configuration))
    func `conform like the wrapped engine`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }
}
