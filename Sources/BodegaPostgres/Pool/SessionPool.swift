#if Postgres
import Bodega
import DequeModule
import Foundation

/// A pool of sessions, each lent to one task at a time.
///
/// 1. `lend` takes an idle session, or, below the limit, the right to connect. Otherwise the task joins the queue of
///    `waiters`, which are served in order of arrival.
/// 2. `withSession` runs its closure with the session.
/// 3. `takeBack` rolls an open transaction back. A usable session goes to the first waiter, or becomes idle. An
///    unusable one passes the right to connect to the first waiter, or lowers the count.
/// 4. A waiter leaves the queue at its deadline, when its task is cancelled, or when the pool closes.
/// 5. When a session is silent, `suspectConnections` closes the idle sessions and informs the read lanes.
///
/// The lock of `state` guards all mutable state. Connecting, rolling back and resuming continuations happen outside it.
final class SessionPool: Sendable {

    private struct Waiter {
        var number: UInt64
        var continuation: UnsafeContinuation<Turn, any Error>
        var token: UInt64
    }

    /// The outcome of acquiring a place in the pool.
    private enum Turn: Sendable {
        case use(Session)
        /// The right to open another connection.
        case connect
    }

    private struct State {
        var idle: [Session] = []
        /// The number of sessions that are idle, lent or connecting.
        var count = 0
        var waiters: Deque<Waiter> = []
        var nextNumber: UInt64 = 0
        var lastHost: ConnectionTarget.Host?
        /// Whether connections go through a pooler, as far as it is known.
        var isPooled = false
        /// Called when connections may be dead.
        var suspicionHandlers: [@Sendable () -> Void] = []
        var isClosed = false

        /// Takes an idle session, or the right to connect; `nil` if all sessions are in use.
        mutating func takeTurn(limit: Int) throws -> Turn? {
            if isClosed { throw PostgresFailure.closed }
            if let session = idle.popLast() { return .use(session) }
            guard count < limit else { return nil }
            count += 1
            return .connect
        }
    }

    let target: ConnectionTarget
    private let limit: Int
    private let connectTimeout: TimeInterval
    /// How long an operation may wait for a session, and a session for its server, in seconds, by default.
    private let timeout: TimeInterval
    private let state = Locked(State())

    init(target: ConnectionTarget, limit: Int, connectTimeout: TimeInterval, timeout: TimeInterval = 30) {
        (self.target, self.limit, self.connectTimeout, self.timeout) = (target, limit, connectTimeout, timeout)
    }

    /// Lends a session to a closure. A transaction that the closure leaves open is rolled back.
    ///
    /// - Parameter deadline: The deadline for acquiring a session; `nil` for the time limit of the pool.
    func withSession<Value>(
        until deadline: PostgresDeadline? = nil, _ body: (Session) async throws -> Value
    ) async throws -> Value {
        let session = try await lend(until: deadline ?? .after(timeout))
        do {
            let value = try await body(session)
            await takeBack(session)
            return value
        } catch {
            if (error as? PostgresFailure)?.isSilence == true { suspectConnections() }
            await takeBack(session)
            throw explained(error)
        }
    }

    /// Records that connections go through a pooler.
    func notePooler() { state.withLock { $0.isPooled = true } }

    /// Adds to a failure whether it may be that of a pooler.
    func explained(_ error: any Error) -> any Error {
        guard var failure = error as? PostgresFailure else { return error }
        failure.isPooled = state.withLock { $0.isPooled }
        return failure
    }

    /// Closes all idle connections, after one has turned out to be dead, or because the server has no place left.
    func suspectConnections() {
        let (idle, handlers) = state.withLock { state in
            defer {
                state.count -= state.idle.count
                state.idle = []
            }
            return (state.idle, state.suspicionHandlers)
        }
        withExtendedLifetime(idle) {}
        for handler in handlers { handler() }
    }

    /// Registers a handler for ``suspectConnections()``.
    func whenSuspecting(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.suspicionHandlers.append(body) }
    }

    /// Connects a session outside the pool's limit, which the caller owns.
    ///
    /// - Parameters:
    ///   - deadline: The deadline; `nil` for the connect timeout of each host.
    ///   - patience: The patience of the session; `nil` for the time limit of the pool.
    func makeSession(until deadline: PostgresDeadline? = nil, patience: TimeInterval? = nil) async throws -> Session {
        let deadline = deadline ?? .after(connectTimeout * Double(target.hosts.count))
        let host = try state.withLock { state in
            if state.isClosed { throw PostgresFailure.closed }
            return state.lastHost
        }
        do {
            let session = try await Session.connect(
                to: target, preferring: host, timeout: connectTimeout, until: deadline, patience: patience ?? timeout)
            state.withLock { $0.lastHost = session.host }
            return session
        } catch let failure as PostgresFailure where failure.isFull {
            // The next attempt can have the place of an idle connection. Otherwise one part of the program, such as its
            // notifications, could wait for ever for a place that another part does not use.
            suspectConnections()
            throw failure
        }
    }

    /// Closes the idle sessions immediately, and the lent ones when they are returned.
    func close() {
        let (idle, waiters) = state.withLock { state in
            state.isClosed = true
            defer {
                state.idle = []
                state.waiters = []
            }
            return (state.idle, state.waiters)
        }
        for waiter in waiters {
            Watchdog.shared.cancel(waiter.token)
            waiter.continuation.resume(throwing: PostgresFailure.closed)
        }
        withExtendedLifetime(idle) {}
    }

    // MARK: Lending

    private func lend(until deadline: PostgresDeadline) async throws -> Session {
        try Task.checkCancellation()
        let (turn, hasWaited) = try await turn(until: deadline)
        if case .use(let session) = turn, session.isUsable {
            session.demandProof()
            return session
        }
        do {
            return try await makeSession(until: deadline)
        } catch {
            giveUpTurn()
            // If the right to connect came too late, the pool was the cause and not the server.
            let failure = error as? PostgresFailure
            if hasWaited, failure?.kind == .cannotConnect, deadline.hasPassed { throw Self.isExhausted(limit) }
            throw error
        }
    }

    private func takeBack(_ session: Session) async {
        if session.isUsable, session.isInTransaction {
            do {
                _ = try await session.run(.rollback, patience: connectTimeout)
            } catch {
                // The server rolls back when the connection ends.
                return giveUpTurn()
            }
        }
        guard session.isUsable else { return giveUpTurn() }
        let (next, isClosed) = state.withLock { state in
            let next = state.waiters.popFirst()
            if next == nil, !state.isClosed { state.idle.append(session) }
            return (next, state.isClosed)
        }
        if isClosed { return }
        hand(.use(session), to: next)
    }

    /// Passes the place of a session that was not connected or has ended to the next waiter.
    private func giveUpTurn() {
        let next = state.withLock { state in
            let next = state.waiters.popFirst()
            if next == nil { state.count -= 1 }
            return next
        }
        hand(.connect, to: next)
    }

    private func hand(_ turn: Turn, to waiter: Waiter?) {
        guard let waiter else { return }
        Watchdog.shared.cancel(waiter.token)
        waiter.continuation.resume(returning: turn)
    }

    // MARK: Waiting

    /// Waits for a session, or for the right to connect one.
    ///
    /// - Returns: The turn, and whether the task had to wait for it.
    private func turn(until deadline: PostgresDeadline) async throws -> (turn: Turn, hasWaited: Bool) {
        let (turn, number): (Turn?, UInt64) = try state.withLock { state in
            if let turn = try state.takeTurn(limit: limit) { return (turn, 0) }
            state.nextNumber += 1
            return (nil, state.nextNumber)
        }
        if let turn { return (turn, false) }
        let later: Turn = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { wait(number, until: deadline, $0) }
        } onCancel: {
            leave(number, CancellationError())
        }
        return (later, true)
    }

    private func wait(
        _ number: UInt64, until deadline: PostgresDeadline, _ continuation: UnsafeContinuation<Turn, any Error>
    ) {
        let token = Watchdog.shared.watch(until: deadline) { [weak self, limit] in
            self?.leave(number, Self.isExhausted(limit))
        }
        let outcome: Result<Turn, any Error>? = state.withLock { state in
            // The task may have been cancelled before it joins the queue.
            if Task.isCancelled { return .failure(CancellationError()) }
            do {
                // A session may have become idle since.
                if let turn = try state.takeTurn(limit: limit) { return .success(turn) }
            } catch {
                return .failure(error)
            }
            // The watchdog may have fired before the task joined the queue.
            if deadline.hasPassed { return .failure(Self.isExhausted(limit)) }
            state.waiters.append(Waiter(number: number, continuation: continuation, token: token))
            return nil
        }
        guard let outcome else { return }
        Watchdog.shared.cancel(token)
        continuation.resume(with: outcome)
    }

    private static func isExhausted(_ limit: Int) -> PostgresFailure {
        PostgresFailure(.poolExhausted, "All \(limit) connections of the pool stayed in use.")
    }

    /// Removes a task from the queue and resumes it with an error.
    private func leave(_ number: UInt64, _ error: any Error) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        guard let waiter else { return }
        Watchdog.shared.cancel(waiter.token)
        waiter.continuation.resume(throwing: error)
    }
}
#endif
