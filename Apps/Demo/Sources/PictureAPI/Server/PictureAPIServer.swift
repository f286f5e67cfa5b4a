public import Bodega
public import Foundation
import Hummingbird
import HummingbirdCore
import LocalServer
public import Logging
import NIOCore
public import ServiceLifecycle

/// The picture API: a local server that draws pictures.
///
/// It can be switched off and on while the program runs. While it is off, no server listens on its port, as after a
/// failure of a machine or network.
public actor PictureAPIServer: Service {
    private let routes: PictureRoutes
    private let limits: Limits
    private let logger: Logger
    private var port = 0
    private var server: RunningServer?
    private var lastSwitch: Task<Void, any Error>?

    private struct RunningServer {
        let group: ServiceGroup
        let task: Task<Void, any Error>
    }

    /// The time limits for clients.
    struct Limits {
        /// The time after which an idle connection is closed, unless its request is being processed. Clients should
        /// close their connections first: a request on a connection that is being closed fails.
        var idle = TimeAmount.seconds(60)
        /// The time within which the body of a request has to arrive.
        var request = TimeAmount.seconds(30)
        /// How long requests may continue after the server is switched off.
        var shutdown = Duration.seconds(2)
    }

    /// Creates a server that is off.
    ///
    /// - Parameters:
    ///   - directory: The folder of the sessions.
    ///   - seed: The seed of the sequence of pictures; `nil` for a random sequence.
    ///   - logger: The logger.
    /// - Throws: A `StorageError` if its database could not be opened.
    public init(directory: FileManager.Directory, seed: UInt64? = nil, logger: Logger) throws {
        try self.init(directory: directory, seed: seed, limits: Limits(), logger: logger)
    }

    init(directory: FileManager.Directory, seed: UInt64? = nil, limits: Limits, logger: Logger) throws {
        let engine = try SQLiteStorageEngine(opening: directory, databaseFilename: "members")
        routes = PictureRoutes(chooser: Chooser(seed: seed), members: Members(storage: engine))
        self.limits = limits
        self.logger = logger
    }

    /// The address, which is kept while the server is off.
    public var address: String { "http://127.0.0.1:\(port)" }

    /// Whether the server listens.
    public var isOnline: Bool { server != nil }

    /// Switches the server on, waits for the shutdown, and switches it off.
    public func run() async throws {
        try await setOnline(true)
        try? await gracefulShutdown()
        try await setOnline(false)
    }

    /// Switches the server on or off, and returns when that is done.
    ///
    /// - Throws: The server's error if it cannot listen.
    public func setOnline(_ isOnline: Bool) async throws {
        // One at a time: a second call must not start a second server while the first one is starting.
        let task = Task { [lastSwitch] in
            _ = await lastSwitch?.result
            if isOnline { try await start() } else { try await stop() }
        }
        lastSwitch = task
        try await task.value
    }

    private func start() async throws {
        if server != nil { return }
        do {
            try await listen(on: port)
        } catch  where port != 0 {
            // Another program has taken the port.
            logger.notice("The API's port is taken, so the API uses another one.", metadata: ["port": "\(port)"])
            try await listen(on: 0)
        }
    }

    private func listen(on port: Int) async throws {
        let (ports, listening) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: routes.router,
            server: .http1(configuration: .local(idle: limits.idle, request: limits.request)),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port), serverName: "Pictures"),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { listening.yield(port) }
            },
            logger: logger
        )
        var configuration = ServiceGroupConfiguration(services: [application], logger: logger)
        configuration.maximumGracefulShutdownDuration = limits.shutdown
        let group = ServiceGroup(configuration: configuration)
        let task = Task {
            defer { listening.finish() }
            try await group.run()
        }
        guard let port = await ports.first(where: { _ in true }) else { return try await task.value }
        self.port = port
        server = RunningServer(group: group, task: task)
    }

    private func stop() async throws {
        guard let server else { return }
        self.server = nil
        await server.group.triggerGracefulShutdown()
        do {
            try await server.task.value
        } catch is CancellationError {
            // Some requests exceeded the limit.
        }
    }
}
