#if Postgres
import Bodega
import Foundation
import Logging

/// Keeps the log of changes bounded: each program trims it once in so many changes of its own.
final class ChangeTrimmer: Sendable {

    private struct State {
        var untilNext: Int
        var isTrimming = false
    }

    private let limit: Int
    private let interval: Int
    private let age: TimeInterval
    private let pool: SessionPool
    private let timeout: TimeInterval
    private let state: Locked<State>

    /// - Parameters:
    ///   - limit: The number of rows that stay at least; at most about twice as many do, and all that are not old
    ///     enough.
    ///   - age: How old a row must be to go, in seconds.
    init(pool: SessionPool, limit: Int, timeout: TimeInterval, age: TimeInterval) {
        self.pool = pool
        self.limit = limit
        self.timeout = timeout
        self.age = age
        interval = max(1, limit / 10)
        // Programs that end after a few changes trim too, some of them.
        state = Locked(State(untilNext: .random(in: 1...interval)))
    }

    /// Counts rows that were added, and trims if it is time.
    func count(_ rows: Int) {
        let mustTrim = state.withLock { state in
            state.untilNext -= rows
            guard state.untilNext <= 0, !state.isTrimming else { return false }
            state.untilNext = interval
            state.isTrimming = true
            return true
        }
        if mustTrim { Task { await trimInBackground() } }
    }

    private func trimInBackground() async {
        do {
            try await trim()
        } catch {
            // Somebody will, and until then nothing is missing.
            bodegaLogger.debug("The log of changes was not trimmed.", metadata: ["error": "\(error)"])
        }
        state.withLock { $0.isTrimming = false }
    }

    func trim() async throws {
        var parameters = Parameters()
        parameters.append(Int64(limit))
        parameters.append(Int64(age))
        let commands = [
            Command(Statement("BEGIN ISOLATION LEVEL READ COMMITTED")),
            Command(ChangeStatements.lockTrimming), Command(ChangeStatements.moveTrimming, parameters),
            Command(ChangeStatements.trim),
            Command(Statement("COMMIT")),
        ]
        try await pool.withSession(until: .after(timeout)) { session in
            _ = try await session.run(commands, patience: timeout)
        }
    }
}
#endif
