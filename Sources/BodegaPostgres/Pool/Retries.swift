#if Postgres
import Foundation

/// Repeats operations that failed because of concurrent transactions or an unreachable server.
struct Retries: Sendable {

    let clock: any Clock<Duration>
    /// Whether another server may be the primary.
    let hasSeveralHosts: Bool

    /// Repeats an operation while it fails with a conflict or an outage.
    ///
    /// - Parameters:
    ///   - deadline: The deadline after which no attempt is started.
    ///   - failure: The failure of an earlier attempt by the caller.
    ///   - body: The operation. It receives the number of the attempt, from 0.
    func untilDone<Value>(
        by deadline: PostgresDeadline, after failure: PostgresFailure? = nil, _ body: (Int) async throws -> Value
    ) async throws -> Value {
        try await attempts(until: deadline, after: failure, { $0.isConflict || isOutage($0) }, body)
    }

    /// Repeats an operation while it fails with a conflict, or because the server is starting or has no connection
    /// left. A server that can't be reached is not retried.
    func whileConflicting<Value>(
        until deadline: PostgresDeadline, _ body: (Int) async throws -> Value
    ) async throws -> Value {
        try await attempts(
            until: deadline, after: nil, { $0.isConflict || $0.code == "57P03" || $0.code == "53300" }, body)
    }

    private func isOutage(_ failure: PostgresFailure) -> Bool {
        failure.isOutage && (failure.code != "25006" || hasSeveralHosts)
    }

    private func attempts<Value>(
        until deadline: PostgresDeadline, after failure: PostgresFailure?, _ mayRetry: (PostgresFailure) -> Bool,
        _ body: (Int) async throws -> Value
    ) async throws -> Value {
        var conflict = Backoff.conflict
        var outage = Backoff.outage
        var attempt = 0
        // What the server has said last.
        var answer = failure?.code == nil ? nil : failure
        if let failure {
            guard mayRetry(failure) else { throw failure }
            try await clock.sleep(for: outage.next())
            attempt = 1
        }
        while true {
            do {
                return try await body(attempt)
            } catch let failure as PostgresFailure where mayRetry(failure) {
                if failure.code != nil, !failure.isConflict { answer = failure }
                // The last attempt often has no time for an answer, which says less than that to an earlier one.
                if deadline.hasPassed { throw failure.kind == .cannotConnect ? answer ?? failure : failure }
                attempt += 1
                try await clock.sleep(for: failure.isConflict ? conflict.next() : outage.next())
            }
        }
    }
}

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
