import Foundation
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import ServiceLifecycle

/// The gallery: its storage, its controllers and its web server.
public struct GalleryServer: Service, CustomStringConvertible {
    private let controllers: GalleryControllers
    private let templates: Templates
    private let port: Int
    private let logger: Logger
    private let onListening: @Sendable (_ port: Int) -> Void

    /// How many ports are tried, the preferred one included.
    private static let portsToTry = 100
    /// How many connections there can be. A page that is open keeps one.
    private static let connectionLimit = 256
    /// How long a connection may be silent, unless its request is being answered.
    private static let idleTimeout = TimeAmount.seconds(60)

    /// Creates a gallery.
    ///
    /// - Parameters:
    ///   - storage: Where it keeps what it keeps.
    ///   - connection: How it reaches the API.
    ///   - noticeTime: How long a message stays on the page.
    ///   - port: The port to listen on at 127.0.0.1, or, if it is taken, the next one that is free. 0 for any.
    ///   - logger: Where it writes what it does.
    ///   - onListening: Called when it listens.
    /// - Throws: What is wrong with a template.
    public init(
        storage: GalleryStorage,
        connection: PictureAPIConnection,
        noticeTime: Duration = .seconds(8),
        port: Int,
        logger: Logger,
        onListening: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        controllers = await GalleryControllers(
            storage: storage, connection: connection, noticeboard: Noticeboard(time: noticeTime), logger: logger)
        templates = try await Templates()
        self.port = port
        self.logger = logger
        self.onListening = onListening
    }

    /// Names the service in the log.
    public var description: String { "Gallery" }

    /// Loads what is stored, and serves until the program ends.
    ///
    /// - Throws: What keeps it from listening.
    public func run() async throws {
        await controllers.open()
        let showFirst = Task { await showFirstPicture() }
        defer { showFirst.cancel() }
        try await serve()
    }

    /// Whoever comes for the first time sees a picture at once.
    @MainActor
    private func showFirstPicture() async {
        if controllers.easel.exhibit == nil { await GalleryActions(controllers: controllers).showAnother() }
    }

    private func serve() async throws {
        let router = await GalleryRoutes(controllers, templates: templates).router()
        let responder = router.buildResponder()
        let lastPort = min(port + Self.portsToTry - 1, 65_535)
        var port = port
        while true {
            do {
                return try await application(responder, port).run()
            } catch let error as IOError where error.errnoCode == EADDRINUSE && port < lastPort {
                logger.notice("The port is taken; the next one is tried.", metadata: ["port": "\(port)"])
                port += 1
            }
        }
    }

    private func application(
        _ responder: RouterResponder<GalleryRequestContext>,
        _ port: Int
    ) -> Application<RouterResponder<GalleryRequestContext>> {
        Application(
            responder: responder,
            server: .http1(configuration: HTTP1Channel.Configuration(idleTimeout: Self.idleTimeout)),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port),
                availableConnectionsDelegate: .maximum(Self.connectionLimit, logger: logger)
            ),
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? port) },
            logger: logger
        )
    }
}
