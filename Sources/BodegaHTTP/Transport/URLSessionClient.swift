import Bodega
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests with `URLSession`.
final class URLSessionClient: HTTPClient {

    /// A session with its delegate, which it retains until it is invalidated.
    private struct Session {
        let session: URLSession
        let exchanges = URLSessionExchanges()

        init(maximumConnections: Int?) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieAcceptPolicy = .never
            configuration.httpShouldSetCookies = false
            configuration.httpCookieStorage = nil
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.httpMaximumConnectionsPerHost = maximumConnections ?? Int(Int16.max)
            session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
        }
    }

    private struct Transfer {
        let session: Session
        let task: URLSessionDataTask
    }

    private let session: Session
    private let transfers = Locked<[ObjectIdentifier: Transfer]>([:])

    /// Creates a client.
    ///
    /// - Parameter maximumConnections: The maximum number of connections to one server; `nil` if there is none.
    init(maximumConnections: Int?) {
        session = Session(maximumConnections: maximumConnections)
    }

    func start(_ exchange: HTTPExchange) {
        // A session sends a request again if a connection that it reused has ended. A new one has no connections.
        let session = exchange.request.isIdempotent ? session : Session(maximumConnections: 1)
        let task = session.session.dataTask(with: URLRequest(exchange))
        session.exchanges.add(exchange, for: task)
        transfers.withLock { $0[ObjectIdentifier(exchange)] = Transfer(session: session, task: task) }
        task.resume()
        // It may have ended before it was added.
        if !exchange.isWaiting { stop(exchange) }
    }

    func resume(_ exchange: HTTPExchange) {
        transfers.withLock { $0[ObjectIdentifier(exchange)] }?.task.resume()
    }

    func stop(_ exchange: HTTPExchange) {
        guard let transfer = transfers.withLock({ $0.removeValue(forKey: ObjectIdentifier(exchange)) }) else { return }
        transfer.session.exchanges.removeExchange(of: transfer.task)
        transfer.task.cancel()
        if !exchange.request.isIdempotent { transfer.session.session.finishTasksAndInvalidate() }
    }

    func invalidate() {
        session.session.invalidateAndCancel()
    }
}

extension URLRequest {
    fileprivate init(_ exchange: HTTPExchange) {
        let request = exchange.request
        self.init(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        httpBody = request.body ?? (request.method == .post ? Data() : nil)
        // The exchange has the timer. This one might also run while the task is suspended.
        timeoutInterval = 604_800
        for (name, value) in request.headers { setValue(value, forHTTPHeaderField: name) }
    }
}
