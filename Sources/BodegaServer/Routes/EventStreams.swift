#if Server
import Bodega
import Foundation
import ServiceLifecycle

/// The open streams of events, which share the tasks that wake them.
///
/// 1. A stream waits for its ``StreamWakeup``, and then sends its ``StreamedChanges``.
/// 2. For each log with streams, a task follows its signals, and wakes these streams. Clients without filters share the
///    log of a collection.
/// 3. One task follows the changes of access, and wakes all.
/// 4. A timer fires at the next turn of half a second at which a stream has to be woken, for its heartbeat or because
///    the right of its client ends. The heartbeats of many streams are spread over the turns.
///
/// The tasks end with the last stream for which they run. `state` is guarded by its lock.
final class EventStreams: Sendable {
    /// A log, with the streams that send its changes.
    private struct Followed {
        /// An engine with this log, so that no other log gets its identity.
        let engine: ScopedStorageEngine
        let changes: StreamedChanges
        var wakeups: [Int: StreamWakeup] = [:]
        var task: Task<Void, Never>?
    }

    private struct Timer {
        let turn: Int
        let task: Task<Void, Never>
    }

    private struct State {
        var followed: [ObjectIdentifier: Followed] = [:]
        var lastNumber = 0
        /// The one that follows the changes of access, while there are streams.
        var task: Task<Void, Never>?
        /// The last turn at which streams were woken.
        var turn = 0
        var timer: Timer?
    }

    /// The time from one turn to the next.
    private static let pause = Duration.milliseconds(500)
    /// The turns between two heartbeats of a stream: 15 seconds.
    private static let heartbeat = 30

    private let start = ContinuousClock.now

    private let access: any StorageAccess
    private let state = Locked(State())

    init(access: any StorageAccess) { self.access = access }

    deinit {
        state.withLock { state in
            state.task?.cancel()
            state.timer?.task.cancel()
            for followed in state.followed.values { followed.task?.cancel() }
        }
    }

    /// Runs a closure as a stream of an engine's log, which is woken in the meantime.
    func withStream(
        of engine: ScopedStorageEngine, _ log: any StorageLog, _ wakeup: StreamWakeup,
        _ body: (StreamedChanges) async throws -> Void
    ) async throws {
        let (number, changes) = open(engine, log, wakeup)
        defer { close(engine.logIdentity, number) }
        try await withGracefulShutdownHandler {
            try await body(changes)
        } onGracefulShutdown: {
            wakeup.wake(.end)
        }
    }

    private func open(
        _ engine: ScopedStorageEngine, _ log: any StorageLog, _ wakeup: StreamWakeup
    ) -> (number: Int, changes: StreamedChanges) {
        let identity = engine.logIdentity
        return state.withLock { state in
            state.lastNumber += 1
            var followed = state.followed[identity] ?? Followed(engine: engine, changes: StreamedChanges(log: log))
            let changes = followed.changes
            changes.join()
            followed.wakeups[state.lastNumber] = wakeup
            if followed.task == nil {
                followed.task = Task { [weak self] in
                    for await _ in log.changeSignals(excluding: nil) {
                        changes.noteSignal()
                        self?.wake(identity)
                    }
                    changes.noteEndOfSignals()
                    self?.wake(identity)
                }
            }
            state.followed[identity] = followed
            if state.task == nil {
                let access = access
                state.task = Task { [weak self] in
                    for await _ in access.changeSignals() { self?.wakeAll() }
                }
                state.turn = turn
            }
            setTimer(to: nextTurn(of: state.lastNumber, wakeup, after: turn, Date()), in: &state)
            return (state.lastNumber, changes)
        }
    }

    private func close(_ identity: ObjectIdentifier, _ number: Int) {
        let ended = state.withLock { state in
            state.followed[identity]?.wakeups[number] = nil
            state.followed[identity]?.changes.leave()
            var ended: [Task<Void, Never>] = []
            if let followed = state.followed[identity], followed.wakeups.isEmpty {
                state.followed[identity] = nil
                if let task = followed.task { ended.append(task) }
            }
            if state.followed.isEmpty {
                ended += [state.task, state.timer?.task].compactMap { $0 }
                (state.task, state.timer) = (nil, nil)
            }
            return ended
        }
        for task in ended { task.cancel() }
    }

    private func wake(_ identity: ObjectIdentifier) {
        let wakeups = state.withLock { $0.followed[identity].map { Array($0.wakeups.values) } ?? [] }
        for wakeup in wakeups { wakeup.wake(.changes) }
    }

    private func wakeAll() {
        let wakeups = state.withLock { $0.followed.values.flatMap(\.wakeups.values) }
        for wakeup in wakeups { wakeup.wake(.access) }
    }

    // MARK: Time

    /// The turn that has begun last.
    private var turn: Int { Int(start.duration(to: .now) / Self.pause) }

    /// The next turn at which a stream has to be woken.
    private func nextTurn(of number: Int, _ wakeup: StreamWakeup, after turn: Int, _ now: Date) -> Int {
        let heartbeat = turn + 1 + (number - turn - 1).modulo(Self.heartbeat)
        guard let end = wakeup.expiresAt, end > now else { return heartbeat }
        // If the system's clock is set forward, the next heartbeat notices.
        let turns = end.timeIntervalSince(now) / (Self.pause / .seconds(1))
        return turns < Double(Self.heartbeat) ? min(heartbeat, turn + 1 + Int(turns)) : heartbeat
    }

    /// Sets the timer, unless it fires earlier.
    private func setTimer(to turn: Int, in state: inout State) {
        if let timer = state.timer, timer.turn <= turn { return }
        state.timer?.task.cancel()
        let time = start + Self.pause * turn
        let task = Task { [weak self] in
            // It throws when the task is cancelled.
            do { try await Task.sleep(until: time, clock: .continuous) } catch { return }
            self?.wakeByTime()
        }
        state.timer = Timer(turn: turn, task: task)
    }

    private func wakeByTime() {
        let (turn, now) = (turn, Date())
        let woken = state.withLock { state in
            state.timer = nil
            let turns = turn - state.turn
            state.turn = turn
            var woken: [(wakeup: StreamWakeup, reasons: StreamWakeup.Reasons)] = []
            var next = Int.max
            for (number, wakeup) in state.followed.values.lazy.flatMap(\.wakeups) {
                var reasons: StreamWakeup.Reasons = []
                if (turn - number).modulo(Self.heartbeat) < turns { reasons.insert(.time) }
                if let end = wakeup.expiresAt, end <= now { reasons.insert(.access) }
                if !reasons.isEmpty { woken.append((wakeup, reasons)) }
                next = min(next, nextTurn(of: number, wakeup, after: turn, now))
            }
            if next < .max { setTimer(to: next, in: &state) }
            return woken
        }
        for (wakeup, reasons) in woken { wakeup.wake(reasons) }
    }
}

extension Int {
    /// The remainder that has the sign of the divisor.
    fileprivate func modulo(_ divisor: Int) -> Int {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
#endif
