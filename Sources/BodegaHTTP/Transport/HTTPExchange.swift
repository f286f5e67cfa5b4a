import Bodega
import Foundation

/// A request under way, and its response as far as it has arrived.
///
/// It ends once: with the response, an error, the time limit, or the cancellation of its task. What the client reports
/// afterwards is ignored, so a caller never waits for the client.
final class HTTPExchange: Sendable {
    typealias Outcome = Result<HTTPStorageResponse, any Error>

    private struct State {
        var continuation: CheckedContinuation<HTTPStorageResponse, any Error>?
        var outcome: Outcome?
        var response: HTTPStorageResponse?
        var body = Data()
    }

    /// The request.
    let request: HTTPStorageRequest
    private let state = Locked(State())

    init(_ request: HTTPStorageRequest) {
        self.request = request
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
            state.body = Data()
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: outcome)
    }

    /// Whether the exchange waits for more of the response.
    var isWaiting: Bool { state.withLock { $0.outcome == nil } }

    /// Stores the head of the response. Returns whether its body is wanted.
    ///
    /// - Parameters:
    ///   - head: The status and the headers.
    ///   - length: The length of the body, if the server has announced it. The length of a compressed body says nothing
    ///     about the decompressed one, but that is larger.
    func receive(_ head: HTTPStorageResponse, length: Int64?) -> Bool {
        state.withLock { $0.response = head }
        guard length ?? 0 <= Int64(request.maximumResponseBytes) else {
            endTooLarge()
            return false
        }
        return isWaiting
    }

    /// Appends a part of the body. Returns whether more is wanted.
    func receive(_ data: some DataProtocol) -> Bool {
        let isWanted = state.withLock { state in
            guard state.outcome == nil else { return nil as Bool? }
            guard data.count <= request.maximumResponseBytes - state.body.count else { return false }
            state.body.append(contentsOf: data)
            return true
        }
        if isWanted == false { endTooLarge() }
        return isWanted ?? false
    }

    /// Whether the head of the response has arrived.
    var hasHead: Bool { state.withLock { $0.response != nil } }

    /// Ends the exchange after the last byte.
    func complete() {
        let response = state.withLock { state in
            state.response.map { HTTPStorageResponse($0, body: state.body) }
        }
        guard let response else {
            return end(.failure(StorageError(.unreachable, "The server's response has no status.")))
        }
        end(.success(response))
    }

    private func endTooLarge() {
        let limit = request.maximumResponseBytes
        end(.failure(StorageError(.tooLarge, "The response is larger than \(limit) bytes, the limit.")))
    }
}
