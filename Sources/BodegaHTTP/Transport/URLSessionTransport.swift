import Bodega
import Foundation

/// Sends requests with Foundation's `URLSession`, without redirects, cookies, caches and stored credentials.
///
/// On Linux it calls libcurl, the library on which `URLSession` is built there, because that `URLSession` loses one of
/// two headers whose names differ in case, ends the program when headers follow a body, and waits for the whole time
/// limit if a server closes a connection while a body is sent. Where the program finds no libcurl, as in one that is
/// linked statically, `URLSession` sends the requests, with these defects, and a warning is logged.
///
/// Connections are reused. If one ends before any byte of the response has arrived, because the server was closing it,
/// the request is sent again on another connection. A request that is not idempotent is therefore sent on a new
/// connection. Proxies are those of the system; on Linux, those of the environment variables `http_proxy`,
/// `https_proxy` and `no_proxy`, for local servers as well.
///
/// Streams have connections of their own, without a limit of their number, so that many streams without an end don't
/// make other requests wait. libcurl receives them with HTTP/1.1. When about 1 MiB of a stream waits for its reader,
/// the transfer is paused. A compressed body can take more: libcurl decompresses all bytes that it has received. Where
/// `URLSession` sends the requests on Linux, it can't pause. There, a stream fails with `tooLarge` if more than 16 MiB
/// wait for the reader, and more than the request's maximum number of bytes.
public final class URLSessionTransport: HTTPStorageTransport {

    /// The transport that engines share by default.
    public static let shared = URLSessionTransport()

    private let client: any HTTPClient
    private let streams: any HTTPClient

    /// Creates a transport with connections of its own.
    ///
    /// - Parameter maximumConnections: The maximum number of connections to one server, excluding streams. Further
    ///   requests wait, which counts towards their time limits.
    public convenience init(maximumConnections: Int = 8) {
        self.init(client: Self.makeClient(maximumConnections), streams: Self.makeClient(nil))
    }

    init(client: any HTTPClient, streams: any HTTPClient) {
        (self.client, self.streams) = (client, streams)
    }

    deinit {
        client.invalidate()
        streams.invalidate()
    }

    private static func makeClient(_ maximumConnections: Int?) -> any HTTPClient {
        #if canImport(Glibc) || canImport(Musl)
        if let client = CurlClient(maximumConnections: maximumConnections) { return client }
        #endif
        return URLSessionClient(maximumConnections: maximumConnections)
    }

    public func send(_ request: HTTPStorageRequest) async throws -> HTTPStorageResponse {
        let exchange = HTTPExchange(request, isStream: false, client: client)
        let head = try await exchange.start()
        var body = Data()
        while let part = try await exchange.part() { body.append(part) }
        return HTTPStorageResponse(head, body: body)
    }

    public func open(_ request: HTTPStorageRequest) async throws -> HTTPStorageStream {
        let exchange = HTTPExchange(request, isStream: true, client: streams)
        let head = try await exchange.start()
        return HTTPStorageStream(head: head) {
            try await exchange.part()
        } stop: {
            // The stream keeps the transport, which would close its connection.
            withExtendedLifetime(self) { exchange.cancel() }
        }
    }
}

/// What sends the requests of a transport, and reports to their exchanges.
protocol HTTPClient: Sendable {
    /// Sends the request of an exchange.
    func start(_ exchange: HTTPExchange)
    /// Continues the transfer of an exchange that was paused.
    func resume(_ exchange: HTTPExchange)
    /// Releases an exchange that has ended, and closes its connection if the transfer goes on.
    func stop(_ exchange: HTTPExchange)
    /// Closes all connections. No request follows.
    func invalidate()
}
