import Bodega
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request under way, and its response as far as it has arrived.
///
/// It ends once: with the response, an error, the time limit, or the cancellation of its task. What `URLSession` reports
/// afterwards is ignored, so a caller never waits for `URLSession`.
final class URLSessionExchange: Sendable {
    typealias Outcome = Result<HTTPStorageResponse, any Error>

    private struct State {
        var continuation: CheckedContinuation<HTTPStorageResponse, any Error>?
        var outcome: Outcome?
        var response = HTTPStorageResponse(status: 0)
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = limit
    }

    /// Stores the continuation of the caller. Returns `false` if the exchange has ended before.
    func begin(_ continuation: CheckedContinuation<HTTPStorageResponse, any Error>) -> Bool {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(with: outcome) }
        return outcome == nil
    }

    func end(_ outcome: Outcome) {
        let continuation = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<HTTPStorageResponse, any Error>? }
            state.outcome = outcome
            state.response.body = Data()
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: outcome)
    }

    /// Stores the head of the response. Returns whether its body is wanted.
    func receive(_ response: URLResponse) -> Bool {
        guard let response = response as? HTTPURLResponse else {
            end(.failure(StorageError(.unreachable, "The server's response is not one of HTTP.")))
            return false
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        state.withLock { $0.response = HTTPStorageResponse(status: response.statusCode, headers: headers) }
        // The length of a compressed body says nothing about the decompressed one, but that is larger.
        guard response.expectedContentLength <= Int64(limit) else {
            endTooLarge()
            return false
        }
        return true
    }

    /// Appends a part of the body. Returns whether more is wanted.
    func receive(_ data: Data) -> Bool {
        let isWanted = state.withLock { state in
            guard state.outcome == nil else { return nil as Bool? }
            guard data.count <= limit - state.response.body.count else { return false }
            state.response.body.append(data)
            return true
        }
        if isWanted == false { endTooLarge() }
        return isWanted ?? false
    }

    /// Ends the exchange after the last byte, or after an error of the session.
    ///
    /// - Parameters:
    ///   - error: The error of the session.
    ///   - response: The head of the response. A redirect without a target is not reported before.
    func complete(_ error: (any Error)?, _ response: URLResponse?) {
        if let error { return end(.failure(StorageError(urlSession: error))) }
        if state.withLock({ $0.response.status == 0 }) {
            guard let response else {
                return end(.failure(StorageError(.unreachable, "The server's response has no status.")))
            }
            guard receive(response) else { return }
        }
        end(.success(state.withLock { $0.response }))
    }

    private func endTooLarge() {
        end(.failure(StorageError(.tooLarge, "The response is larger than \(limit) bytes, the limit.")))
    }
}

/// Passes what a session reports to the exchanges of its tasks.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
    private let exchanges = Locked<[Int: URLSessionExchange]>([:])

    func add(_ exchange: URLSessionExchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    func removeExchange(of task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = nil }
    }

    private func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(exchange(of: dataTask)?.receive(response) == true ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if exchange(of: dataTask)?.receive(data) != true { dataTask.cancel() }
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
