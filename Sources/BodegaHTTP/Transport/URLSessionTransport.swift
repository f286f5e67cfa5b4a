import Bodega
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with Foundation's `URLSession`, without redirects, cookies, caches and stored credentials.
///
/// Connections are reused. Proxies are those of the system; on Linux, those of the environment variables `http_proxy`,
/// `https_proxy` and `no_proxy`, for local servers as well.
public final class URLSessionTransport: HTTPStorageTransport {

    /// The transport that engines share by default.
    public static let shared = URLSessionTransport()

    private let session: URLSession
    private let exchanges: URLSessionExchanges

    /// Creates a transport with connections of its own.
    ///
    /// - Parameter maximumConnections: The maximum number of connections to one server. Further requests wait, which counts
    ///   towards their time limits.
    public init(maximumConnections: Int = 8) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = maximumConnections
        exchanges = URLSessionExchanges()
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit {
        // A session retains its delegate until then.
        session.invalidateAndCancel()
    }

    public func send(_ request: HTTPStorageRequest) async throws -> HTTPStorageResponse {
        let exchange = URLSessionExchange(limit: request.maximumResponseBytes)
        let task = session.dataTask(with: URLRequest(request))
        exchanges.add(exchange, for: task)
        defer {
            exchanges.removeExchange(of: task)
            task.cancel()
        }
        // The timer of the session restarts with each received byte on some platforms, so this is one of our own.
        let timer = Task {
            try await Task.sleep(for: request.timeLimit)
            exchange.end(.failure(StorageError(.timedOut, "The server did not respond within \(request.timeLimit).")))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if exchange.begin(continuation) { task.resume() }
            }
        } onCancel: {
            exchange.end(.failure(CancellationError()))
        }
    }
}

extension URLRequest {
    fileprivate init(_ request: HTTPStorageRequest) {
        self.init(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        httpBody = request.body
        let (seconds, attoseconds) = request.timeLimit.components
        timeoutInterval = Double(seconds) + Double(attoseconds) / 1e18 + 1
        for (name, value) in request.headers { setValue(value, forHTTPHeaderField: name) }
    }
}
