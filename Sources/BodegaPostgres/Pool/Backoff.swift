#if Postgres
/// How long to wait before each next attempt: twice as long each time, up to a limit, and less by a random part, so
/// that those who were in each other's way don't meet again.
struct Backoff: Sendable {

    private var pause: Duration
    private let longest: Duration
    private let random: @Sendable () -> Double

    /// - Parameters:
    ///   - first: The longest that the first pause can be.
    ///   - longest: The longest that any pause can be.
    ///   - random: Picks a number from 0 up to 1.
    init(
        first: Duration,
        longest: Duration,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.pause = first
        self.longest = longest
        self.random = random
    }

    /// For those who want the same rows: they are done in milliseconds.
    static var conflict: Backoff { Backoff(first: .milliseconds(4), longest: .milliseconds(500)) }

    /// For a server that is away: it takes seconds.
    static var outage: Backoff { Backoff(first: .milliseconds(50), longest: .seconds(1)) }

    /// The next pause: between half and all of what it can be.
    mutating func next() -> Duration {
        defer { pause = min(pause * 2, longest) }
        return pause * (0.5 + random() / 2)
    }
}
#endif
