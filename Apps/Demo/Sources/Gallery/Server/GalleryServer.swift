import Foundation
import Hummingbird
import HummingbirdCore
import LocalServer
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

    /// The number of ports to try, including the preferred one.
    private static let portsToTry = 100
    /// The maximum number of connections. Each open page keeps one.
    private static let connectionLimit = 256
    /// The time after which an idle connection is closed, unless its request is being processed.
    private static let idleTimeout = TimeAmount.seconds(60)
    /// The time within which a request has to arrive. Those of the gallery's pages are a few hundred bytes.
    private static let requestTimeout = TimeAmount.seconds(30)

    /// Creates a gallery.
    ///
    /// - Parameters:
    ///   - storage: The gallery's storage.
    ///   - connection: The connection to the API.
    ///   - noticeTime: How long a notice stays on the page.
    ///   - port: The port to listen on at 127.0.0.1. If it is taken, the next free one is used. 0 for any port.
    ///   - logger: The logger.
    ///   - onListening: Called with the port when the server listens.
    /// - Throws: An error if a template is invalid.
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

    /// The name of the service in the log.
    public var description: String { "Gallery" }

    /// Loads the stored data and serves until the program ends.
    ///
    /// - Throws: An error if the server cannot listen.
    public func run() async throws {
        await controllers.open()
        let synchronize = Task { await controllers.sync?.run() }
        defer { synchronize.cancel() }
        let showFirst = Task { await showFirstPicture() }
        defer { showFirst.cancel() }
        try await serve()
    }

    /// Fetches a picture at the first start, so that the first visitor sees one.
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
                logger.notice("The port is taken. Trying the next one.", metadata: ["port": "\(port)"])
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
            server: .http1(configuration: .local(idle: Self.idleTimeout, request: Self.requestTimeout)),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port),
                availableConnectionsDelegate: .maximum(Self.connectionLimit, logger: logger)
            ),
            onServerRunning: { channel in onListening(channel.localAddress?.port ?? port) },
            logger: logger
        )
    }
}
