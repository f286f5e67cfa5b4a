import Logging

/// Creates the indexes of a type of objects in the background, again after a failure.
///
///     query ──► begin ──► creating ──► done
///                 ▲           │
///                 └── pause ◄─┘ fails
///
/// 1. The first query begins to create the indexes, and does not wait for that.
/// 2. If an index could not be created, for example because another program held a lock, the first query after a pause
///    begins again. Only the first failure is a warning in the log.
///
/// `state` is guarded by its lock.
final class IndexCreation: Sendable {
    private enum State { case missing, creating, done }

    private let state = Locked((current: State.missing, hasFailed: false))
    private let pause: StoragePause
    private let logger: Logger

    /// - Parameters:
    ///   - clock: The clock for the pause after a failure.
    ///   - logger: The logger of failures.
    init(clock: any Clock<Duration>, logger: Logger = bodegaLogger) {
        pause = StoragePause(duration: .seconds(10), clock: clock)
        self.logger = logger
    }

    /// Whether creating them has failed a short time ago.
    var isPausing: Bool { state.withLock { $0.current == .missing } && pause.isActive }

    /// Begins to create indexes, unless they exist, are being created, or could not be created a short time ago.
    ///
    /// - Parameters:
    ///   - indexes: The indexes. They are not looked up for each query.
    ///   - create: Creates them.
    func begin(
        _ indexes: () -> [StorageIndex], _ create: @escaping @Sendable ([StorageIndex]) async throws -> Void
    ) {
        let isFirst = state.withLock { state in
            guard state.current == .missing, !pause.isActive else { return false }
            state.current = .creating
            return true
        }
        let missing = isFirst ? indexes() : []
        if missing.isEmpty { return }
        Task.detached(priority: .utility) { [self] in
            do {
                try await create(missing)
                state.withLock { $0.current = .done }
            } catch {
                fail(error)
            }
        }
    }

    private func fail(_ error: any Error) {
        let isKnown = state.withLock { state in
            defer { state.hasFailed = true }
            return state.hasFailed
        }
        logger.log(
            level: isKnown || error.isOfEndedTest ? .debug : .warning,
            "Indexes could not be created. Queries are slow. A later query tries again.",
            metadata: ["error": "\(error)"])
        pause.begin()
        state.withLock { $0.current = .missing }
    }
}
