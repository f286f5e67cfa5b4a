import Bodega
import BodegaRemote
import BodegaServer
import BodegaTesting
import Foundation
import Testing

@Suite("A collection on a server")
struct RemoteConformanceTests {

    /// The servers of the workspaces, each on a file with collections.
    private actor Servers {
        private var servers: [String: Task<TestServer, any Error>] = [:]

        func server(_ workspace: StorageEngineConformance.Workspace) async throws -> TestServer {
            if let server = servers[workspace.identifier] { return try await server.value }
            let server = Task {
                let file = workspace.directory.url.appendingPathComponent("items.sqlite")
                let database = try SQLiteStorageEngine(openingFile: file, now: workspace.clock.now)
                return try await TestServer(StorageCollections { try database.collection(named: $0) })
            }
            servers[workspace.identifier] = server
            return try await server.value
        }

        func discard(_ workspace: StorageEngineConformance.Workspace) async throws {
            try await servers.removeValue(forKey: workspace.identifier)?.value.stop()
        }
    }

    private static let configuration: StorageEngineConformance.Configuration = {
        let servers = Servers()
        var configuration = StorageEngineConformance.Configuration(
            "RemoteStorageEngine", capabilities: .all.union(.shared).subtracting(.moments)
        ) {
            try await servers.server($0).engine()
        }
        configuration.openCollection = { engine, name in
            guard let engine = engine as? RemoteStorageEngine else { throw CancellationError() }
            return try await engine.server.collection(named: name)
        }
        configuration.discard = { try await servers.discard($0) }
        configuration.largestValue = 8 << 20
        configuration.largestBatch = 20_000
        return configuration
    }()

    @Test("keeps the contract of engines", arguments: StorageEngineConformance.checks(for: configuration))
    func conforms(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }
}
