#if Server
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

extension StorageServerMetrics {
    /// A server that answers the figures to programs of this machine.
    func application(on port: Int, logger: Logger) -> some Service {
        let router = Router(context: BasicRequestContext.self)
        router.get("metrics") { request, _ in
            // A page in a browser can make its own name resolve to 127.0.0.1.
            guard isThisMachine(request.head.authority) else { return Response(status: .misdirectedRequest) }
            return Response(
                status: .ok, headers: [.contentType: Self.contentType, .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: self.text)))
        }
        return Application(
            router: router,
            server: .http1(configuration: HTTP1Channel.Configuration(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port), serverName: nil),
            onServerRunning: { channel in self.listens(on: channel.localAddress?.port) },
            logger: logger)
    }
}
#endif
