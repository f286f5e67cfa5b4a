import Bodega
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with `URLSession`.
final class URLSessionClient: HTTPClient {
    private let session: URLSession
    private let exchanges = URLSessionExchanges()
    private let tasks = Locked<[ObjectIdentifier: URLSessionTask]>([:])

    init(maximumConnections: Int) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = maximumConnections
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    func start(_ exchange: HTTPExchange) {
        let task = session.dataTask(with: URLRequest(exchange.request))
        exchanges.add(exchange, for: task)
        tasks.withLock { $0[ObjectIdentifier(exchange)] = task }
        task.resume()
    }

    func stop(_ exchange: HTTPExchange) {
        guard let task = tasks.withLock({ $0.removeValue(forKey: ObjectIdentifier(exchange)) }) else { return }
        exchanges.removeExchange(of: task)
        task.cancel()
    }

    func invalidate() {
        // A session retains its delegate until then.
        session.invalidateAndCancel()
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
