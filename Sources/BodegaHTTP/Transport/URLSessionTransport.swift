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
/// the request is sent again on another connection; all requests of an engine are idempotent. Proxies are those of the
/// system; on Linux, those of the environment variables `http_proxy`, `https_proxy` and `no_proxy`, for local servers
/// as well.
public final class URLSessionTransport: HTTPStorageTransport {

    /// The transport that engines share by default.
    public static let shared = URLSessionTransport()

    private let client: any HTTPClient

    /// Creates a transport with connections of its own.
    ///
    /// - Parameter maximumConnections: The maximum number of connections to one server. Further requests wait, which
    ///   counts towards their time limits.
    public init(maximumConnections: Int = 8) {
        client = Self.makeClient(maximumConnections)
    }

    deinit {
        client.invalidate()
    }

    private static func makeClient(_ maximumConnections: Int) -> any HTTPClient {
        #if canImport(Glibc) || canImport(Musl)
        if let client = CurlClient(maximumConnections: maximumConnections) { return client }
        #endif
        return URLSessionClient(maximumConnections: maximumConnections)
    }

    public func send(_ request: HTTPStorageRequest) async throws -> HTTPStorageResponse {
        let exchange = HTTPExchange(request)
        // The timer of a session restarts with each received byte on some platforms, so this is one of our own.
        let timer = Task {
            try await Task.sleep(for: request.timeLimit)
            exchange.end(.failure(StorageError(.timedOut, "The server did not respond within \(request.timeLimit).")))
        }
        defer { timer.cancel() }
        defer { client.stop(exchange) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if exchange.begin(continuation) { client.start(exchange) }
            }
        } onCancel: {
            exchange.end(.failure(CancellationError()))
        }
    }
}

/// What sends the requests of a transport, and reports to their exchanges.
protocol HTTPClient: Sendable {
    /// Sends the request of an exchange.
    func start(_ exchange: HTTPExchange)
    /// Releases an exchange that has ended, and the connection if it is still in use.
    func stop(_ exchange: HTTPExchange)
    /// Closes all connections. No request follows.
    func invalidate()
}
