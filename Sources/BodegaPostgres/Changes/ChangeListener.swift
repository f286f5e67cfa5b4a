#if Postgres
import Bodega
import Foundation
import Logging

/// Hears of changes on a connection of its own, for all engines of a database, as long as any of them wants to know.
///
/// A notification only says that it is time to look, and need not come: a writer may end before it is sent. So the
/// listener also asks the server now and then whether any transaction has taken place since, and looks when a
/// connection was made anew.
final class ChangeListener: Sendable {

    private struct State {
        var signals: [Int32: ChangeSignals] = [:]
        var task: Task<Void, Never>?
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
                state.task = Task { [weak self] in await Self.listen { self } }
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
    private static func listen(_ listener: () -> ChangeListener?) async {
        var outage = Backoff.outage
        while let current = listener(), current.isWanted() {
            do {
                let session = try await current.connect()
                outage = Backoff.outage
                current.signalAll()
                try await current.hear(session)
            } catch is CancellationError {
                return
            } catch {
                bodegaLogger.debug("The connection for changes was lost.", metadata: ["error": "\(error)"])
                let pause = outage.next()
                guard (try? await current.clock.sleep(for: pause)) != nil else { return }
            }
        }
    }

    private func connect() async throws -> Session {
        let session = try await pool.makeSession(until: .after(connectTimeout))
        _ = try await session.run(Command(Statement("LISTEN \(ChangeAnnouncer.channel)")), patience: connectTimeout)
        return session
    }

    private func hear(_ session: Session) async throws {
        var lastTransaction: Int64?
        while isWanted() {
            let numbers = try await session.waitForNotifications(until: .after(Self.interval))
            if !numbers.isEmpty {
                signal(numbers)
                continue
            }
            let answer = try await session.run(Command(Self.nextTransaction), patience: connectTimeout)
            let transaction: Int64 = try answer.number(0, 0)
            if let lastTransaction, lastTransaction != transaction { signalAll() }
            lastTransaction = transaction
        }
    }

    private static let nextTransaction = Statement(
        "emporium_next_transaction",
        "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
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
    private func isWanted() -> Bool {
        state.withLock { state in
            state.signals = state.signals.filter { $0.value.areHeard }
            if state.signals.isEmpty || state.isClosed { state.task = nil }
            return state.task != nil
        }
    }
}
#endif
