import Bodega
import Foundation

/// A request under way, and its response as far as it has arrived.
///
/// 1. The caller waits in `start()` for the head of the response, and then in `part()` for parts of its body.
/// 2. The client reports the head and the bytes of the body. They wake the caller, or wait in `buffer`.
/// 3. If the buffer of a stream is full, the client pauses the transfer until the caller has taken the bytes.
/// 4. The exchange ends once: after the last byte, or with an error, the time limit, or a cancellation. Then it stops
///    the transfer, if that goes on. What the client reports afterwards is ignored, so a caller never waits for the
///    client.
///
/// The lock of `state` guards all that changes. The client is called without it.
final class HTTPExchange: Sendable {
    /// The number of bytes in the buffer from which on the transfer of a stream is paused.
    static let bufferLimit = 1 << 20
    /// The bytes of a request and its response by which each second beyond the time limit must be earned. A connection
    /// that is slow, but not silent, so has the time that it needs, and a server that drips has an end.
    static let minimumBytesPerSecond = 8_192

    private struct State {
        var head: HTTPStorageResponse?
        /// The bytes that have arrived and that the caller has not taken.
        var buffer = Data()
        var receivedCount = 0
        /// The bytes that were sent, with those that were sent again.
        var sentCount = 0
        /// The last number of sent bytes that the client has reported.
        var reportedCount = 0
        /// How often 64 KiB were sent or received, as far as that was reported.
        var progress = 0
        var outcome: Result<Void, any Error>?
        var isPaused = false
        let start = ContinuousClock.now
        /// When a byte was sent or has arrived, or the caller let a paused transfer go on.
        var lastByte: ContinuousClock.Instant
        var headWaiter: CheckedContinuation<HTTPStorageResponse, any Error>?
        var partWaiter: CheckedContinuation<Data?, any Error>?
        var timer: Task<Void, any Error>?

        init() { lastByte = start }

        /// Whether 64 KiB more were sent or received.
        mutating func takeProgress() -> Bool {
            let new = (sentCount + receivedCount) >> 16
            defer { progress = new }
            return new > progress
        }

        /// Returns what a caller in `part()` receives; `nil` if it has to wait.
        mutating func take() -> Result<Data?, any Error>? {
            if !buffer.isEmpty {
                defer { buffer = Data() }
                return .success(buffer)
            }
            return outcome.map { outcome in outcome.map { nil } }
        }
    }

    /// The request.
    let request: HTTPStorageRequest
    /// Whether the response is passed on as it arrives. If not, it has a maximum size, and must not be slow.
    let isStream: Bool
    private let client: any HTTPClient
    private let state = Locked(State())
    /// That of the request, of at most 68 years, so that a sum with a time does not overflow.
    private let timeLimit: Duration

    init(_ request: HTTPStorageRequest, isStream: Bool, client: any HTTPClient) {
        (self.request, self.isStream, self.client) = (request, isStream, client)
        timeLimit = min(request.timeLimit, .seconds(1 << 31))
    }

    // MARK: The caller

    /// Sends the request, and returns the head of the response when it has arrived.
    func start() async throws -> HTTPStorageResponse {
        // The timer of a session restarts with each received byte on some platforms, so this is one of our own.
        let timer = Task {
            while let deadline = deadline?.time {
                try await Task.sleep(until: deadline, clock: .continuous)
                expire()
            }
        }
        state.withLock { $0.timer = timer }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.headWaiter = continuation }
                    return state.outcome
                }
                if case .failure(let error) = outcome { return continuation.resume(throwing: error) }
                client.start(self)
            }
        } onCancel: {
            cancel()
        }
    }

    /// Returns the bytes of the body that have arrived since the last call, at least one, or waits for them. Returns
    /// `nil` after the last one. One task calls it at a time.
    func part() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (part, resumes) = state.withLock { state in
                    precondition(state.partWaiter == nil, "Two tasks read one response.")
                    let part = state.take()
                    if part == nil { state.partWaiter = continuation }
                    let resumes = state.isPaused
                    state.isPaused = false
                    if resumes { state.lastByte = .now }
                    return (part, resumes)
                }
                if let part { continuation.resume(with: part) }
                if resumes { client.resume(self) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends the exchange, and drops the bytes that the caller has not taken.
    func cancel() {
        end(.failure(CancellationError()), dropsBuffer: true)
    }

    // MARK: The client

    /// Whether the exchange waits for more of the response.
    var isWaiting: Bool { state.withLock { $0.outcome == nil } }

    /// Whether the head of the response has arrived.
    var hasHead: Bool { state.withLock { $0.head != nil } }

    /// Takes note of how much of the body was sent. The number starts again if the body is sent again.
    func send(totalBytes count: Int) {
        let isProgress = state.withLock { state in
            let isBegunAgain = count < state.reportedCount
            let new = isBegunAgain ? count : count - state.reportedCount
            state.reportedCount = count
            state.sentCount += new
            if new > 0 { state.lastByte = .now }
            return state.takeProgress()
        }
        if isProgress { request.onProgress?() }
    }

    /// Stores the head of the response. Returns whether its body is wanted.
    ///
    /// - Parameters:
    ///   - head: The status and the headers.
    ///   - length: The length of the body, if the server has announced it. The length of a compressed body says nothing
    ///     about the decompressed one, but that is larger.
    func receive(_ head: HTTPStorageResponse, length: Int64?) -> Bool {
        if !isStream, request.method != .head, length ?? 0 > Int64(request.maximumResponseBytes) {
            endTooLarge()
            return false
        }
        let waiter = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<HTTPStorageResponse, any Error>? }
            state.head = head
            state.lastByte = .now
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: head)
        return isWaiting
    }

    /// Takes bytes of the body. Returns whether more are wanted.
    func receive(_ data: some DataProtocol) -> Bool {
        if data.isEmpty { return isWaiting }
        let isTooLarge = state.withLock { state in
            data.count > maximumBytes - (isStream ? state.buffer.count : state.receivedCount)
        }
        if isTooLarge {
            endTooLarge()
            return false
        }
        var isProgress = false
        let (waiter, part) = state.withLock { state in
            guard state.outcome == nil else { return (nil as CheckedContinuation<Data?, any Error>?, nil as Data?) }
            state.receivedCount += data.count
            state.lastByte = .now
            isProgress = state.takeProgress()
            guard let waiter = state.partWaiter else {
                state.buffer.append(contentsOf: data)
                return (nil, nil)
            }
            state.partWaiter = nil
            return (waiter, Data(data))
        }
        if isProgress { request.onProgress?() }
        waiter?.resume(returning: part)
        return isWaiting
    }

    /// The maximum number of bytes of the response; in a stream, of its buffer, for a client that can't pause it.
    private var maximumBytes: Int {
        isStream ? max(request.maximumResponseBytes, Self.bufferLimit << 4) : request.maximumResponseBytes
    }

    /// Whether the buffer is full, and the exchange is not paused.
    var isFull: Bool { state.withLock { isFull($0) } }

    private func isFull(_ state: State) -> Bool {
        isStream && state.outcome == nil && !state.isPaused && state.buffer.count >= Self.bufferLimit
    }

    /// Pauses the exchange if its buffer is full. Returns whether it is paused, until the client's `resume`.
    func pauseIfFull() -> Bool {
        state.withLock { state in
            if isFull(state) { state.isPaused = true }
            return state.isPaused
        }
    }

    /// Ends the exchange after the last byte.
    func complete() {
        guard hasHead else {
            return end(.failure(StorageError(.unreachable, "The server's response has no status.")))
        }
        end(.success(()))
    }

    /// Ends the exchange with an error. The caller receives the bytes that have arrived first.
    func fail(_ error: any Error) {
        end(.failure(error))
    }

    // MARK: The end

    private func end(_ outcome: Result<Void, any Error>, dropsBuffer: Bool = false) {
        let waiting = state.withLock { state in
            if dropsBuffer { state.buffer = Data() }
            guard state.outcome == nil else {
                if dropsBuffer { state.outcome = outcome }
                return nil as State?
            }
            state.outcome = outcome
            defer { (state.headWaiter, state.partWaiter, state.timer) = (nil, nil, nil) }
            return state
        }
        guard let waiting else { return }
        waiting.timer?.cancel()
        if case .failure(let error) = outcome { waiting.headWaiter?.resume(throwing: error) }
        waiting.partWaiter?.resume(with: outcome.map { nil })
        client.stop(self)
    }

    private func endTooLarge() {
        let excess = isStream ? "The part of the response that waits for its reader" : "The response"
        fail(StorageError(.tooLarge, "\(excess) is larger than \(maximumBytes) bytes, the limit."))
    }

    /// The time at which the exchange exceeds its time limit, if nothing is sent and nothing arrives until then, and
    /// whether it has been silent for the limit by then, or slow; `nil` after its end.
    private var deadline: (time: ContinuousClock.Instant, isSilent: Bool)? {
        state.withLock { state in
            if state.outcome != nil { return nil }
            // A server does not have to answer for the time that the caller takes.
            let silent = (state.isPaused ? .now : state.lastByte) + timeLimit
            if isStream, state.head != nil { return (silent, true) }
            let count = Double(state.sentCount + state.receivedCount)
            let slow = state.start + timeLimit + .seconds(count / Double(Self.minimumBytesPerSecond))
            return slow < silent ? (slow, false) : (silent, true)
        }
    }

    private func expire() {
        guard let deadline, deadline.time <= .now else { return }
        guard deadline.isSilent else {
            return fail(
                StorageError(
                    .timedOut,
                    """
                    The request takes longer than \(request.timeLimit), and less than \(Self.minimumBytesPerSecond) \
                    bytes a second were sent and received.
                    """))
        }
        let doubt = isStream ? "The server sent nothing for" : "The server did not respond within"
        fail(StorageError(.timedOut, "\(doubt) \(request.timeLimit)."))
    }
}
