#if Server
import Bodega

/// A bucket of tokens: each request takes one, and they come back at a steady rate up to a maximum.
struct TokenBucket {
    private var tokens: Double
    private var last: ContinuousClock.Instant
    private let rate: Double
    private let maximum: Double

    init(rate: Double, burst: Int, now: ContinuousClock.Instant) {
        (self.rate, maximum) = (rate, Double(max(1, burst)))
        (tokens, last) = (maximum, now)
    }

    /// Takes a token.
    ///
    /// - Returns: `nil` if there was one, or else the time until there will be one.
    mutating func take(at now: ContinuousClock.Instant) -> Duration? {
        refill(at: now)
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return rate > 0 ? .seconds((1 - tokens) / rate) : .seconds(3_600)
    }

    /// Whether it is as a new one would be.
    mutating func isFull(at now: ContinuousClock.Instant) -> Bool {
        refill(at: now)
        return tokens >= maximum
    }

    private mutating func refill(at now: ContinuousClock.Instant) {
        guard now > last else { return }
        tokens = min(maximum, tokens + (now - last) / .seconds(1) * rate)
        last = now
    }
}

/// The rate at which each client may send requests.
final class RateLimit: Sendable {
    /// Beyond this number of clients, those that have been idle are forgotten.
    private static let maximum = 10_000

    private struct State {
        var buckets: [ExactText: TokenBucket] = [:]
        var nextCleaning = maximum
    }

    private let state = Locked(State())
    private let rate: Double?
    private let burst: Int

    init(_ limits: StorageServerLimits) { (rate, burst) = (limits.requestsPerSecond, limits.requestBurst) }

    /// Counts a request of a client.
    ///
    /// - Throws: ``RequestRefusal/tooManyRequests(_:)``.
    func count(_ client: StorageClient) throws {
        guard let rate else { return }
        let now = ContinuousClock.now
        let wait = state.withLock { state in
            if state.buckets.count >= state.nextCleaning {
                state.buckets = state.buckets.filter { entry in
                    var bucket = entry.value
                    return !bucket.isFull(at: now)
                }
                // So the cost of cleaning is shared by as many new clients as there are buckets.
                state.nextCleaning = max(Self.maximum, state.buckets.count * 2)
            }
            return state.buckets[ExactText(client.id), default: TokenBucket(rate: rate, burst: burst, now: now)]
                .take(at: now)
        }
        if let wait { throw RequestRefusal.tooManyRequests(wait) }
    }
}
#endif
