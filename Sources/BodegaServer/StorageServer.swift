#if Server
public import Bodega
import Hummingbird
public import Logging
public import ServiceLifecycle
import Foundation
import HummingbirdCore
import NIOCore

/// A server of collections over HTTP.
///
/// ```swift
/// let database = try SQLiteStorageEngine(file: file)
/// let tokens = try AccessTokens(storage: database.collection(named: "tokens"))
/// let server = StorageServer(access: tokens, collections: ["notes": try database.collection(named: "notes")])
/// try await server.run()
/// ```
///
/// A client, such as the engine of the module `BodegaRemote`, sees what its ``StorageClient/scopes`` say, and nothing
/// else: the server reaches each collection through ``/Bodega/StorageEngine/scoped(to:)`` only.
///
/// The server keeps no state of its clients, so several of them can serve one database. It is stopped by cancelling
/// ``run()``, or as a service of a `ServiceGroup`, which lets requests under way come to their ends.
public struct StorageServer: Service {
    private let routes: StorageRoutes
    private let options: StorageServerOptions
    private let logger: Logger
    private let onRunning: @Sendable (Int) async -> Void

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - access: Decides which client a request is from.
    ///   - collections: The engines by the names of the collections in addresses; see also
    ///     ``StorageCollections``.
    ///   - options: The address, and the limits.
    ///   - logger: The logger. No token and no item is logged.
    ///   - onRunning: Called with the port on which the server listens.
    public init(
        access: some StorageAccess, collections: StorageCollections,
        options: StorageServerOptions = StorageServerOptions(), logger: Logger = Logger(label: "BodegaServer"),
        onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) {
        routes = StorageRoutes(access: access, collections: collections, limits: options.limits)
        (self.options, self.logger, self.onRunning) = (options, logger, onRunning)
    }

    /// Serves until the task is cancelled or the service is shut down.
    ///
    /// - Throws: A `StorageError` with the code `cannotOpen` if the server can't listen, or `invalidArgument` if others
    ///   could reach it without TLS, see ``StorageServerOptions/isBehindProxy``.
    public func run() async throws {
        guard isThisMachine(options.host) || options.isBehindProxy && !(routes.access is OpenAccess) else {
            throw StorageError(
                .invalidArgument,
                """
                Other machines may reach \(options.host), and the server has no TLS. It needs an access with tokens, \
                and the option isBehindProxy if only a proxy with TLS can reach it.
                """)
        }
        let router = Router(context: BasicRequestContext.self)
        routes.add(to: router)
        let configuration = HTTP1Channel.Configuration(
            idleTimeout: .seconds(options.limits.idleSeconds),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 32 << 10, maxHeaderFieldCount: 100))
        let application = Application(
            router: router, server: .http1(configuration: configuration),
            configuration: ApplicationConfiguration(
                address: .hostname(options.host, port: options.port), serverName: nil),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { await onRunning(port) }
            },
            logger: logger)
        var group = ServiceGroupConfiguration(services: [application], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(options.limits.shutdownSeconds)
        try await run(ServiceGroup(configuration: group))
    }

    /// Runs the server until the task is cancelled, or the service is shut down, and then lets it come to its end.
    ///
    /// A cancellation in the middle of the acceptance of a connection would end the program in SwiftNIO.
    private func run(_ group: ServiceGroup) async throws {
        let task = Task { try await group.run() }
        do {
            try await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await task.value
                } onGracefulShutdown: {
                    Task { await group.triggerGracefulShutdown() }
                }
            } onCancel: {
                Task { await group.triggerGracefulShutdown() }
            }
        } catch let error as IOError {
            throw StorageError(
                .cannotOpen, "The server can't listen on \(options.host), port \(options.port).", cause: error)
        } catch is CancellationError {
            // Some requests took longer than the limit.
        }
    }
}

/// The address and the limits of a ``StorageServer``.
public struct StorageServerOptions: Sendable {
    /// The host to listen on; by default this machine only, without TLS. Put a reverse proxy with TLS before it.
    public var host = "127.0.0.1"
    /// Whether only a proxy with TLS can reach a ``host`` that is not this machine; by default `false`. Without it, or
    /// with ``OpenAccess``, the server does not listen there.
    public var isBehindProxy = false
    /// The port to listen on; 0 for any free one.
    public var port = 8080
    /// The limits.
    public var limits = StorageServerLimits()

    /// Creates the default options.
    public init() {}
}
#endif
