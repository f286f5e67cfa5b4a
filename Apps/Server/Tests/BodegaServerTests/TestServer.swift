import Bodega
import BodegaRemote
import BodegaServer
import Foundation
import Logging

/// A server on a free port of this machine, which is stopped when it is released.
final class TestServer: Sendable {
    let url: URL
    let port: Int
    private let task: Task<Void, any Error>

    init(
        access: some StorageAccess = OpenAccess(), limits: StorageServerLimits = .init(), port: Int = 0,
        logger: Logger? = nil, _ collections: StorageCollections,
        changing change: (inout StorageServerOptions) -> Void = { _ in }
    ) async throws {
        var options = StorageServerOptions()
        (options.port, options.limits) = (port, limits)
        change(&options)
        let (ports, listening) = AsyncStream<Int>.makeStream()
        var quiet = Logger(label: "TestServer")
        quiet.logLevel = .error
        let logger = logger ?? quiet
        let server = StorageServer(access: access, collections: collections, options: options, logger: logger) {
            listening.yield($0)
        }
        task = Task {
            defer { listening.finish() }
            try await server.run()
        }
        guard let port = await ports.first(where: { _ in true }), let url = URL(string: "http://127.0.0.1:\(port)")
        else {
            try await task.value
            throw StorageError(.cannotOpen, "The server has ended.")
        }
        (self.port, self.url) = (port, url)
    }

    deinit { task.cancel() }

    func stop() async {
        task.cancel()
        _ = await task.result
    }

    func engine(_ collection: String = "notes", token: String? = nil) async throws -> RemoteStorageEngine {
        try await RemoteStorageEngine(connecting: url, collection: collection) { token }
    }
}
