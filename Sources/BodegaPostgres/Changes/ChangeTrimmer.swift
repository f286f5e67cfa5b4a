#if Postgres
import Bodega
import Foundation
import Logging

/// Bounds the log of changes. Each program trims it at regular intervals, counted in its own changes.
///
/// 1. A write counts its rows. If the interval has passed and no task is trimming, it starts one.
/// 2. The task removes old rows in one transaction, which waits for those of other programs.
/// 3. It clears `isTrimming`, also after a failure. A later interval tries again.
///
/// The lock of `state` guards all mutable state.
final class ChangeTrimmer: Sendable {

    private struct State {
        var untilNext: Int
        var isTrimming = false
    }

    private let limit: Int
    private let interval: Int
    private let age: TimeInterval
    private let pool: SessionPool
    private let state: Locked<State>

    /// - Parameters:
    ///   - limit: The minimum number of rows. At most about twice as many are kept, and all younger than `age`.
    ///   - age: The minimum age of removed rows, in seconds.
    init(pool: SessionPool, limit: Int, age: TimeInterval) {
        self.pool = pool
        self.limit = limit
        self.age = age
        interval = max(1, limit / 10)
        // Random, so that programs which end after a few changes also trim sometimes.
        state = Locked(State(untilNext: .random(in: 1...interval)))
    }

    /// Counts new rows of the log, and starts trimming at the interval.
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
            bodegaLogger.debug(
                "The log of changes could not be trimmed. Trying again later.", metadata: ["error": "\(error)"])
        }
        state.withLock { $0.isTrimming = false }
    }

    func trim() async throws {
        let commands = [
            .begin, Command(ChangeStatements.lockTrimming), Command(ChangeStatements.correctTime),
            Command(ChangeStatements.moveTrimming, Int64(limit), Int64(age)), Command(ChangeStatements.trim), .commit,
        ]
        try await pool.withSession { _ = try await $0.run(commands) }
    }
}
#endif
