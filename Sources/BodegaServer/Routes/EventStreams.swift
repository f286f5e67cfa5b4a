#if Server
import Bodega
import Foundation
import ServiceLifecycle

/// The open streams of events, which share the tasks that wake them.
///
/// 1. A stream waits for its ``StreamWakeup``.
/// 2. For each client and collection with streams, a task follows the signals of the log, and wakes these streams.
/// 3. One task follows the changes of access, and wakes all.
/// 4. One task looks at the clock twice a second. It wakes each stream for its heartbeat, a part of them at a time, and
///    when the right of its client ends.
///
/// The tasks end with the last stream for which they run. `state` is guarded by its lock.
final class EventStreams: Sendable {
    /// A collection as a client sees it.
    struct Place: Hashable {
        let client: ExactText
        let collection: ExactText

        init(client: String, collection: String) {
            (self.client, self.collection) = (ExactText(client), ExactText(collection))
        }
    }

    private struct Followed {
        var wakeups: [Int: StreamWakeup] = [:]
        var task: Task<Void, Never>?
    }

    private struct State {
        var followed: [Place: Followed] = [:]
        var lastNumber = 0
        /// Those that run while there are streams.
        var tasks: [Task<Void, Never>] = []
    }

    private static let pause = Duration.milliseconds(500)
    /// The pauses between two heartbeats of a stream: 15 seconds.
    private static let heartbeat = 30

    private let access: any StorageAccess
    private let state = Locked(State())

    init(access: any StorageAccess) { self.access = access }

    deinit {
        state.withLock { state in
            for task in state.tasks { task.cancel() }
            for followed in state.followed.values { followed.task?.cancel() }
        }
    }

    /// Runs a closure as a stream, which is woken in the meantime.
    func withStream(
        _ place: Place, _ log: any StorageLog, _ wakeup: StreamWakeup, _ body: () async throws -> Void
    ) async throws {
        let number = open(place, log, wakeup)
        defer { close(place, number) }
        try await withGracefulShutdownHandler {
            try await body()
        } onGracefulShutdown: {
            wakeup.wake(.end)
        }
    }

    private func open(_ place: Place, _ log: any StorageLog, _ wakeup: StreamWakeup) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.followed[place, default: Followed()].wakeups[state.lastNumber] = wakeup
            if state.followed[place]?.task == nil {
                state.followed[place]?.task = Task { [weak self] in
                    for await _ in log.changeSignals(excluding: nil) { self?.wake(place) }
                }
            }
            if state.tasks.isEmpty {
                let access = access
                state.tasks = [
                    Task { [weak self] in
                        for await _ in access.changeSignals() { self?.wakeAll() }
                    },
                    Task { [weak self] in
                        var turn = 0
                        while true {
                            // It throws when the task is cancelled.
                            do { try await Task.sleep(for: Self.pause) } catch { return }
                            self?.wakeByTime(turn)
                            turn = (turn + 1) % Self.heartbeat
                        }
                    },
                ]
            }
            return state.lastNumber
        }
    }

    private func close(_ place: Place, _ number: Int) {
        let ended = state.withLock { state in
            state.followed[place]?.wakeups[number] = nil
            var ended: [Task<Void, Never>] = []
            if let followed = state.followed[place], followed.wakeups.isEmpty {
                state.followed[place] = nil
                if let task = followed.task { ended.append(task) }
            }
            if state.followed.isEmpty {
                ended += state.tasks
                state.tasks = []
            }
            return ended
        }
        for task in ended { task.cancel() }
    }

    private func wake(_ place: Place) {
        let wakeups = state.withLock { $0.followed[place].map { Array($0.wakeups.values) } ?? [] }
        for wakeup in wakeups { wakeup.wake(.changes) }
    }

    private func wakeAll() {
        let wakeups = state.withLock { $0.followed.values.flatMap(\.wakeups.values) }
        for wakeup in wakeups { wakeup.wake(.access) }
    }

    private func wakeByTime(_ turn: Int) {
        let now = Date()
        let all = state.withLock { $0.followed.values.flatMap(\.wakeups) }
        for (number, wakeup) in all {
            if number % Self.heartbeat == turn { wakeup.wake(.time) }
            if let end = wakeup.expiresAt, end <= now { wakeup.wake(.access) }
        }
    }
}
#endif
