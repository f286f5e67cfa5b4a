import Bodega
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Passes what a session reports to the exchanges of its tasks.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
    private let exchanges = Locked<[Int: HTTPExchange]>([:])

    func add(_ exchange: HTTPExchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    func removeExchange(of task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = nil }
    }

    private func exchange(of task: URLSessionTask) -> HTTPExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(exchange(of: dataTask)?.receive(response) == true ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchange(of: dataTask), exchange.receive(data) else { return dataTask.cancel() }
        #if !canImport(FoundationNetworking)
        guard exchange.isFull else { return }
        // Suspended before it is marked as paused: the caller may resume the task immediately afterwards.
        dataTask.suspend()
        if !exchange.pauseIfFull() { dataTask.resume() }
        #endif
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.send(totalBytes: Int(totalBytesSent))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        exchange(of: task)?.complete(error, task.response)
    }

    /// Refuses a redirect, so that its response is that of the request. The headers may be meant for one server only.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Checks the server's certificate as usual, and offers no stored passwords.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let passwords: Set = [
            NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodDefault,
        ]
        let method = challenge.protectionSpace.authenticationMethod
        completionHandler(passwords.contains(method) ? .rejectProtectionSpace : .performDefaultHandling, nil)
    }
}

extension HTTPExchange {

    /// Stores the head of the response. Returns whether its body is wanted.
    fileprivate func receive(_ response: URLResponse) -> Bool {
        guard let response = response as? HTTPURLResponse else {
            fail(StorageError(.unreachable, "The server's response is not one of HTTP."))
            return false
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        return receive(
            HTTPStorageResponse(status: response.statusCode, headers: headers), length: response.expectedContentLength)
    }

    /// Ends the exchange after the last byte, or after an error of the session.
    ///
    /// - Parameters:
    ///   - error: The error of the session.
    ///   - response: The head of the response. A redirect without a target is not reported before.
    fileprivate func complete(_ error: (any Error)?, _ response: URLResponse?) {
        if let error { return fail(StorageError(urlSession: error)) }
        if !hasHead, let response, !receive(response) { return }
        complete()
    }
}

extension StorageError {
    /// Creates an error from one of `URLSession`, without the latter's description, which contains the whole address.
    fileprivate init(urlSession error: any Error) {
        let code = (error as NSError).code
        let cause = NSError(domain: NSURLErrorDomain, code: code)
        switch code {
        case NSURLErrorTimedOut:
            self.init(.timedOut, "The server did not respond in time.", cause: cause)
        case NSURLErrorSecureConnectionFailed, NSURLErrorServerCertificateHasBadDate,
            NSURLErrorServerCertificateUntrusted, NSURLErrorServerCertificateHasUnknownRoot,
            NSURLErrorServerCertificateNotYetValid, NSURLErrorClientCertificateRejected,
            NSURLErrorClientCertificateRequired, NSURLErrorAppTransportSecurityRequiresSecureConnection:
            self.init(.cannotOpen, "No secure connection to the server is possible.", cause: cause)
        default:
            self.init(.unreachable, "The server can't be reached, or the connection was lost.", cause: cause)
        }
    }
}
