#if Postgres
/// Pauses between attempts: exponential up to a limit, with jitter, so conflicting transactions don't collide again.
struct Backoff: Sendable {

    private var pause: Duration
    private let longest: Duration
    private let random: @Sendable () -> Double

    /// - Parameters:
    ///   - first: The maximum of the first pause.
    ///   - longest: The maximum of all pauses.
    ///   - random: Returns a random number from 0 up to 1.
    init(
        first: Duration,
        longest: Duration,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.pause = first
        self.longest = longest
        self.random = random
    }

    /// For conflicting transactions, which take milliseconds.
    static var conflict: Backoff { Backoff(first: .milliseconds(4), longest: .milliseconds(500)) }

    /// For an unreachable server, which takes seconds to return.
    static var outage: Backoff { Backoff(first: .milliseconds(50), longest: .seconds(1)) }

    /// The next pause: between half of its maximum and the maximum.
    mutating func next() -> Duration {
        defer { pause = min(pause * 2, longest) }
        return pause * (0.5 + random() / 2)
    }
}
#endif
