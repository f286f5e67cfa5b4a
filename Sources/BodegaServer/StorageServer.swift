#if Server
import Bodega
import Hummingbird
public import Logging
public import ServiceLifecycle
import Foundation
import HummingbirdCore
import NIOCore

/// A server of collections over HTTP.
///
/// ```swift
/// let database = try SQLiteStorageEngine(openingFile: file)
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
        routes = StorageRoutes(
            access: access, collections: collections, limits: options.limits, metrics: options.metrics)
        (self.options, self.logger, self.onRunning) = (options, logger, onRunning)
    }

    /// Serves until the task is cancelled or the service is shut down.
    ///
    /// - Throws: A `StorageError` with the code `cannotOpen` if the server can't listen or read a file of
    ///   ``StorageServerOptions/tls``, or `invalidArgument` if others could reach it without TLS, see
    ///   ``StorageServerOptions/isBehindProxy``, or a file is not what it must be.
    public func run() async throws {
        let isSafe = options.tls != nil || options.isBehindProxy
        guard isThisMachine(options.host) || isSafe && !(routes.access is OpenAccess) else {
            throw StorageError(
                .invalidArgument,
                """
                Other machines may reach \(options.host). The server needs an access with tokens, and the option tls, \
                or isBehindProxy if only a proxy with TLS can reach it.
                """)
        }
        let application = try application
        var services: [any Service] = [application]
        if let metrics = options.metrics, let port = options.metricsPort {
            services.insert(metrics.application(on: port, logger: logger), at: 0)
        }
        var group = ServiceGroupConfiguration(services: services, logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(options.limits.shutdownSeconds)
        try await run(ServiceGroup(configuration: group))
    }

    private var application: some Service {
        get throws {
            let (limits, metrics) = (options.limits, options.metrics)
            let router = Router(context: BasicRequestContext.self)
            if let metrics { router.add(middleware: RequestMeter(metrics: metrics)) }
            router.add(middleware: UnknownAddresses())
            routes.add(to: router)
            let connections = ConnectionCount(maximum: limits.connections)
            metrics?.read(.connections) { connections.count }
            metrics?.read(.streams) { [streams = routes.streams] in streams.count }
            metrics?.read(.answerFileBytes) { [files = routes.answerFiles] in files.count }
            return Application(
                router: router,
                server: .limited(limits, tls: try options.tls?.configuration(), connections, metrics),
                configuration: ApplicationConfiguration(
                    address: .hostname(options.host, port: options.port), serverName: nil),
                onServerRunning: { channel in
                    if let port = channel.localAddress?.port { await onRunning(port) }
                },
                logger: logger)
        }
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
            throw cannotListen(String(cString: strerror(error.errnoCode)))
        } catch is SocketAddressError {
            throw cannotListen("The name of the host is unknown")
        } catch is CancellationError {
            // Some requests took longer than the limit.
        }
    }

    private func cannotListen(_ reason: String) -> StorageError {
        StorageError(
            .cannotOpen,
            "The server can't listen on \(options.host), port \(options.port)\(metricsPort): \(reason).")
    }

    private var metricsPort: String {
        options.metricsPort.map { ", or on 127.0.0.1, port \($0) of the metrics" } ?? ""
    }
}
#endif
