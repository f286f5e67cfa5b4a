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
        if let failure {
            guard mayRetry(failure) else { throw failure }
            try await clock.sleep(for: outage.next())
            attempt = 1
        }
        while true {
            do {
                return try await body(attempt)
            } catch let failure as PostgresFailure where mayRetry(failure) && !deadline.hasPassed {
                attempt += 1
                try await clock.sleep(for: failure.isConflict ? conflict.next() : outage.next())
            }
        }
    }
}
#endif
