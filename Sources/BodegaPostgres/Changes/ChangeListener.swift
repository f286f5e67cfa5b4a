#if Postgres
import Bodega
import Foundation
import Logging

/// Hears of changes on a connection of its own, for all engines of a database, as long as any of them wants to know.
///
/// A notification only says that it is time to look, and need not come: a writer may end before it is sent. So the
/// listener also asks the server now and then for what has been committed since, and looks when a connection was made
/// anew.
final class ChangeListener: Sendable {

    private struct State {
        var signals: [Int32: ChangeSignals] = [:]
        var task: Task<Void, Never>?
        /// The number of the task. One that ends while the next begins must not take itself for that one.
        var generation = 0
        var isClosed = false
    }

    /// How long a change can stay unheard of whose writer ended too early, in seconds.
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

    /// Signals of the changes of a collection, see `ObservableStorageEngine`.
    func stream(ofCollection number: Int32) -> AsyncStream<Void> {
        state.withLock { state in
            let signals = state.signals[number] ?? ChangeSignals()
            if state.isClosed { signals.finish() }
            state.signals[number] = signals
            let stream = signals.stream()
            if state.task == nil, !state.isClosed {
                state.generation += 1
                let generation = state.generation
                state.task = Task { [weak self] in await Self.listen(generation) { self } }
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

    /// Listens as long as there is a listener that somebody wants to hear of.
    private static func listen(_ generation: Int, _ listener: () -> ChangeListener?) async {
        var outage = Backoff.outage
        while let current = listener(), current.isWanted(generation) {
            do {
                let session = try await current.connect()
                // What is committed from here on is found, and before it everybody is told to look.
                let start = try await current.look(session, since: nil)
                outage = Backoff.outage
                current.signalAll()
                try await current.hear(session, since: start, generation)
            } catch is CancellationError {
                return
            } catch {
                bodegaLogger.debug("The connection for changes was lost.", metadata: ["error": "\(error)"])
                let pause = outage.next()
                do { try await current.clock.sleep(for: pause) } catch { return }
            }
        }
    }

    private func connect() async throws -> Session {
        let session = try await pool.makeSession()
        let isStandby = Command(Statement("SELECT pg_is_in_recovery()"))
        // A standby gets no notifications; there, changes are found by looking.
        if try await session.run(isStandby, patience: connectTimeout).flag(0, 0) { return session }
        _ = try await session.run(Command(Statement("LISTEN \(ChangeAnnouncer.channel)")), patience: connectTimeout)
        return session
    }

    private func hear(_ session: Session, since start: String, _ generation: Int) async throws {
        var seen = start
        var nextLook = PostgresDeadline.after(Self.interval)
        while isWanted(generation) {
            signal(try await session.waitForNotifications(until: nextLook))
            // Also if notifications keep coming: a change that is not announced has another writer.
            guard nextLook.hasPassed else { continue }
            seen = try await look(session, since: seen)
            nextLook = .after(Self.interval)
        }
    }

    /// Signals the collections with changes that a snapshot doesn't have.
    ///
    /// - Returns: The snapshot that has them.
    private func look(_ session: Session, since snapshot: String?) async throws -> String {
        var parameters = Parameters()
        if let snapshot { parameters.append(snapshot.utf8) } else { parameters.appendNull() }
        let answer = try await session.run(Command(Self.news, parameters), patience: connectTimeout)
        let numbers = try (0..<answer.count).compactMap { row in
            answer.bytes(row, 1) == nil ? nil : try answer.number(row, 1) as Int32
        }
        signal(Set(numbers))
        return try answer.text(0, 0)
    }

    /// What is committed now, and the collections that have changed since, one a row; one row if there are none.
    private static let news = Statement(
        "emporium_news",
        """
        SELECT pg_current_snapshot()::text, news.collection
        FROM (SELECT 1) AS one
        LEFT JOIN (
            SELECT DISTINCT collection FROM \(ChangeStatements.rowsSince("$1"))
        ) AS news ON true
        """
    )

    private func signal(_ numbers: Set<Int32>) {
        let signals = state.withLock { state in numbers.compactMap { state.signals[$0] } }
        for signal in signals { signal.send() }
    }

    private func signalAll() {
        let signals = state.withLock { $0.signals.values }
        for signal in signals { signal.send() }
    }

    /// Whether anybody wants to know. If not, this was the end of listening.
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
