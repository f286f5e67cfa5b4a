#if Postgres
import Bodega
import Foundation
import Logging

/// Signals changes to the followers of all engines of a database, on one dedicated connection.
///
/// 1. `stream(ofCollection:)` registers a follower. If no task is listening, it starts one.
/// 2. The task connects, subscribes, takes a snapshot and signals all followers, as they may have missed changes.
/// 3. It waits for notifications, and signals the followers of their collections.
/// 4. Once a second it polls for collections changed since its last snapshot: a writer may end before its announcement.
/// 5. If the connection is lost, the task continues at step 2 after a pause.
/// 6. The task ends when there are no followers, or when the database is closed.
///
/// The lock of `state` guards all mutable state. Only the task uses the session.
final class ChangeListener: Sendable {

    private struct State {
        var signals: [Int32: ChangeSignals] = [:]
        var task: Task<Void, Never>?
        /// The number of the current task. A task with an earlier number ends without changing the state.
        var generation = 0
        var isClosed = false
    }

    /// The interval between polls, in seconds.
    private static let interval: TimeInterval = 1

    private let pool: SessionPool
    private let clock: any Clock<Duration>
    private let connectTimeout: TimeInterval
    private let state = Locked(State())

    init(pool: SessionPool, clock: any Clock<Duration>, connectTimeout: TimeInterval) {
        self.pool = pool
        self.clock = clock
        self.connectTimeout = connectTimeout
    }

    /// Returns signals of the changes of a collection, see `StorageLog`.
    func stream(ofCollection number: Int32) -> AsyncStream<Void> {
        state.withLock { state in
            let signals = state.signals[number] ?? ChangeSignals()
            if state.isClosed { signals.finish() }
            state.signals[number] = signals
            let stream = signals.stream()
            if state.task == nil, !state.isClosed {
                state.generation += 1
                let generation = state.generation
                // Without a moment of the caller, which ends before.
                state.task = StorageMoment.$current.withValue(nil) {
                    Task { [weak self] in await Self.listen(generation) { self } }
                }
            }
            return stream
        }
    }

    func close() {
        let (task, signals) = state.withLock { state in
            state.isClosed = true
            return (state.task, state.signals.values)
        }
        task?.cancel()
        for signal in signals { signal.finish() }
    }

    // MARK: Listening

    /// Listens while the listener exists and has followers.
    private static func listen(_ generation: Int, _ listener: () -> ChangeListener?) async {
        var (outage, isReported) = (Backoff.outage, false)
        while let current = listener(), current.isWanted(generation) {
            do {
                let session = try await current.connect()
                // Polls find later commits. All followers are signaled to read earlier ones.
                let start = try await current.poll(session, since: nil)
                (outage, isReported) = (Backoff.outage, false)
                current.signal(nil)
                try await current.follow(session, since: start, generation)
            } catch is CancellationError {
                return
            } catch {
                // Until it is connected again, followers see no changes of other programs.
                bodegaLogger.log(
                    level: isReported ? .debug : .warning,
                    "There is no connection for change notifications. Connecting again…",
                    metadata: ["error": "\(error)"])
                isReported = true
                let pause = outage.next()
                do { try await current.clock.sleep(for: pause) } catch { return }
            }
        }
    }

    private func connect() async throws -> Session {
        let session = try await pool.makeSession(patience: connectTimeout)
        let isStandby = Command(Statement("SELECT pg_is_in_recovery()"))
        // A standby receives no notifications. There, changes are found by polling.
        if try await session.run(isStandby).flag(0, 0) { return session }
        _ = try await session.run(Command(Statement("LISTEN \(ChangeAnnouncer.channel)")))
        return session
    }

    private func follow(_ session: Session, since start: String, _ generation: Int) async throws {
        var seen = start
        var nextPoll = PostgresDeadline.after(Self.interval)
        while isWanted(generation) {
            signal(try await session.waitForNotifications(until: nextPoll))
            // Polls even while notifications arrive: an unannounced change has another writer.
            guard nextPoll.hasPassed else { continue }
            seen = try await poll(session, since: seen)
            nextPoll = .after(Self.interval)
        }
    }

    /// Signals the collections with changes since a snapshot, and returns the current one.
    private func poll(_ session: Session, since snapshot: String?) async throws -> String {
        let answer = try await session.run(Command(Self.changedCollections, snapshot))
        let numbers = try (0..<answer.count).compactMap { row in
            answer.bytes(row, 1) == nil ? nil : try answer.number(row, 1) as Int32
        }
        signal(Set(numbers))
        return try answer.text(0, 0)
    }

    /// Returns the current snapshot and a collection that has changed, one row for each; one row if none has changed.
    private static let changedCollections = Statement(
        "emporium_news",
        """
        SELECT (\(ChangeStatements.snapshot))::text, changed.collection
        FROM (SELECT 1) AS one
        LEFT JOIN (
            SELECT DISTINCT collection FROM \(ChangeStatements.rowsSince("$1"))
        ) AS changed ON true
        """)

    /// Signals the followers of some collections, or of all.
    private func signal(_ numbers: Set<Int32>?) {
        let signals = state.withLock { state in state.signals.filter { numbers?.contains($0.key) ?? true }.values }
        for signal in signals { signal.send() }
    }

    /// Whether the task is the current one and has followers. If not, the task ends.
    private func isWanted(_ generation: Int) -> Bool {
        state.withLock { state in
            guard state.generation == generation else { return false }
            state.signals = state.signals.filter { $0.value.areHeard }
            if state.signals.isEmpty || state.isClosed { state.task = nil }
            return state.task != nil
        }
    }
}
#endif
