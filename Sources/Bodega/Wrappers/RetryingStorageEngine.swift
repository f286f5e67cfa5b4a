import Logging

/// How often and how fast a ``RetryingStorageEngine`` retries.
///
/// The n-th delay is random, between zero and the base delay times 2ⁿ⁻¹, at most the maximum. So many clients whose
/// calls failed together don't retry together. If the server has asked to wait longer, see ``StorageError/retryAfter``,
/// the delay is that long, in addition to the random one. A call that would have to wait beyond the time limit throws
/// its error immediately.
///
/// Source: "full jitter" in M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015.
public struct StorageRetryPolicy: Sendable {
    /// The maximum number of attempts, the first included; by default 5. One means that nothing is retried.
    public var maximumAttempts = 5
    /// The upper bound of the first delay; by default 50 milliseconds.
    public var baseDelay = Duration.milliseconds(50)
    /// The upper bound of each delay that the server has not asked for; by default 2 seconds.
    public var maximumDelay = Duration.seconds(2)
    /// The time after which no attempt begins, counted from the first attempt; by default 100 seconds: three attempts
    /// that each end with the time limit of an HTTP engine, 30 seconds by default. An attempt that has begun is not
    /// ended by it.
    public var timeLimit = Duration.seconds(100)
    /// Whether an error may be temporary; by default ``isTemporary(_:)``.
    public var shouldRetry: @Sendable (any Error) -> Bool = Self.isTemporary

    /// Creates a policy with the default values.
    public init() {}

    /// Whether an error is a ``StorageError`` with ``StorageError/Code/locked``, ``StorageError/Code/unreachable`` or
    /// ``StorageError/Code/timedOut``.
    public static func isTemporary(_ error: any Error) -> Bool {
        [.locked, .unreachable, .timedOut].contains((error as? StorageError)?.code)
    }

    /// Runs a closure, and again if it fails temporarily.
    ///
    /// - Parameters:
    ///   - operation: What the closure does, for the log.
    ///   - clock: The clock of the delays.
    ///   - random: Returns a random number between 0 and 1.
    ///   - mayRetry: Whether the closure may run again after an error.
    ///   - body: The closure.
    package func attempt<Value>(
        _ operation: String, clock: any Clock<Duration> = ContinuousClock(),
        random: () -> Double = { .random(in: 0...1) }, mayRetry: (any Error) -> Bool,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let elapsed = clock.stopwatch()
        var attempts = 1
        while true {
            do {
                return try await body()
            } catch {
                guard attempts < maximumAttempts, mayRetry(error) else { throw error }
                let requested = (error as? StorageError)?.retryAfter ?? .zero
                let delay = requested + delayLimit(after: attempts) * random()
                guard elapsed() + delay < timeLimit else { throw error }
                bodegaLogger.debug(
                    "A call of an engine failed. Retrying…",
                    metadata: [
                        "operation": "\(operation)", "attempts": "\(attempts)", "delay": "\(delay)",
                        "error": "\(error)",
                    ])
                do {
                    try await clock.sleep(for: delay)
                } catch is CancellationError {
                    // The error of the call says more than that its task was cancelled.
                    throw error
                }
                attempts += 1
            }
        }
    }

    /// The upper bound of the delay after a number of failed attempts.
    func delayLimit(after attempts: Int) -> Duration {
        var limit = baseDelay
        for _ in 1..<max(attempts, 1) where limit < maximumDelay { limit *= 2 }
        return min(limit, maximumDelay)
    }
}

/// An engine that retries calls of another engine if they fail temporarily. ``StorageEngine/retrying(_:clock:)``
/// creates one.
///
/// When all attempts have failed, the call throws the error of the last one. A call whose task is cancelled is not
/// retried.
///
/// A write that throws ``StorageError/Code/timedOut`` may have been applied, and is then applied twice. That makes no
/// difference unless another writer has changed the same items in between. Two kinds of batches are retried only after
/// ``StorageError/Code/locked``: one with conditions, because they would not be met the second time, and one that
/// removes an item and writes it again, because the second time would move it behind the new items of the batch. If
/// this engine keeps receipts, see ``StorageTraits/receipts``, a batch with an identifier is retried in any case.
public struct RetryingStorageEngine: ForwardingStorageEngine {
    public let base: any StorageBackend
    let policy: StorageRetryPolicy
    let clock: any Clock<Duration>
    /// Returns a random number between 0 and 1.
    var random: @Sendable () -> Double = { .random(in: 0...1) }

    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await policy.attempt(
            call.operation.rawValue, clock: clock, random: random, mayRetry: { mayRetry(call, after: $0) }, body)
    }

    /// A stream whose bytes come once is not written again.
    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        guard stream.isRepeatable else { return try await base.apply(stream, key: key) }
        return try await forward(.applyStream(key, stream)) { try await base.apply(stream, key: key) }
    }

    /// Those of the base, but the pauses between attempts end early when the task is cancelled.
    public var traits: StorageTraits { base.traits.subtracting(.ignoresCancellation) }

    private func mayRetry(_ call: StorageCall, after error: any Error) -> Bool {
        // The error of another batch that is applied together with this one.
        let error = (error as? StorageGroupError)?.cause ?? error
        let mayBeApplied = (error as? StorageError)?.code != .locked
        if case .apply(let batch) = call, batch.isRecognized(by: base) { return policy.shouldRetry(error) }
        return policy.shouldRetry(error) && !(mayBeApplied && call.mustNotRepeat)
    }
}

extension StorageCall {
    /// Whether the call has another effect if it was applied already.
    fileprivate var mustNotRepeat: Bool {
        guard case .apply(let batch) = self else { return false }
        let batches = batch.group?.batches ?? [batch]
        return !batches.allSatisfy(\.isIdempotent)
    }
}

extension StorageEngine {

    /// Returns an engine that retries calls if they fail temporarily, for example because this engine is locked.
    ///
    /// - Parameters:
    ///   - policy: How often and how fast to retry.
    ///   - clock: The clock of the delays.
    public func retrying(
        _ policy: StorageRetryPolicy = StorageRetryPolicy(), clock: any Clock<Duration> = ContinuousClock()
    ) -> RetryingStorageEngine {
        RetryingStorageEngine(base: backend, policy: policy, clock: clock)
    }
}
