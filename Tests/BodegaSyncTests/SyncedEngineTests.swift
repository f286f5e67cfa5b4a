import Bodega
import BodegaSync
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// A synchronized engine is an engine like any other.
@Suite struct SyncedEngineTests {
    typealias Configuration = StorageEngineConformance.Configuration

    private static func synced(
        _ name: String, capabilities: StorageEngineConformance.Capabilities,
        _ open:
            @escaping @Sendable (StorageEngineConformance.Workspace) throws
            -> @Sendable (String) throws -> any StorageEngine
    ) -> Configuration {
        var configuration = Configuration("\(name), synchronized", capabilities: capabilities) { workspace in
            let collection = try open(workspace)
            // It must have what was sent to it when the local database is opened again.
            let server = try SQLiteStorageEngine(opening: workspace.directory, databaseFilename: "server")
            let sync = try await StorageSync(
                local: { try collection($0) }, remote: { try server.collection(named: $0) })
            return try await sync.collection(named: "tested")
        }
        configuration.openCollection = { engine, name in
            let engine = try #require(engine as? SyncedStorageEngine)
            return try await engine.sync.collection(named: name)
        }
        configuration.largestBatch = 5_000
        configuration.largestValue = 1 << 20
        return configuration
    }

    static let configurations = [
        synced("memory", capabilities: .all.subtracting(.persistent)) { workspace in
            let engine = MemoryStorageEngine(now: workspace.clock.now)
            return { engine.collection(named: $0) }
        },
        synced("SQLite", capabilities: .all) { workspace in
            let engine = try SQLiteStorageEngine(opening: workspace.directory, now: workspace.clock.now)
            return { try engine.collection(named: $0) }
        },
    ]

    @Test(arguments: TestSizes.sample(configurations.flatMap(StorageEngineConformance.checks(for:))))
    func `A synchronized engine keeps the contract`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test(arguments: configurations)
    func `A synchronized engine and a dictionary agree`(_ configuration: Configuration) async throws {
        try await StorageEngineModelTest(configuration, seed: Seed.current, steps: TestSizes.wrappedModelSteps).run()
    }
}
