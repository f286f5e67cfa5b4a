#if Postgres
import Bodega
import DequeModule
import Foundation

/// The connections to a server, lent to one task at a time.
///
/// There are at most as many as allowed; who finds none left waits, first come, first served.
final class SessionPool: Sendable {

    private struct Waiter {
        var number: UInt64
        var continuation: UnsafeContinuation<Turn, any Error>
        var token: UInt64
    }

    /// What somebody gets whose turn it is.
    private enum Turn: Sendable {
        case use(Session)
        /// The right to one connection more.
        case connect
    }

    private struct State {
        var idle: [Session] = []
        /// Those that are idle, lent or being made.
        var count = 0
        var waiters: Deque<Waiter> = []
        var nextNumber: UInt64 = 0
        /// The numbers of those who are about to wait.
        var coming: Set<UInt64> = []
        /// The numbers of those who were cancelled before they waited.
        var cancelled: Set<UInt64> = []
        var lastHost: ConnectionTarget.Host?
        var suspects: [@Sendable () -> Void] = []
        var isClosed = false
    }

    let target: ConnectionTarget
    private let limit: Int
    private let connectTimeout: TimeInterval
    private let state = Locked(State())

    init(target: ConnectionTarget, limit: Int, connectTimeout: TimeInterval) {
        self.target = target
        self.limit = limit
        self.connectTimeout = connectTimeout
    }

    /// Lends a connection to a closure. A transaction that the closure leaves open is rolled back.
    ///
    /// - Parameter deadline: When to stop waiting for a connection.
    func withSession<Value>(
        until deadline: PostgresDeadline,
        _ body: (Session) async throws -> Value
    ) async throws -> Value {
        let session = try await lend(until: deadline)
        do {
            let value = try await body(session)
            await takeBack(session)
            return value
        } catch {
            if (error as? PostgresFailure)?.isSilence == true { suspectConnections() }
            await takeBack(session)
            throw error
        }
    }

    /// Closes the connections that are idle, because one has turned out to be dead, and they may be, too.
    func suspectConnections() {
        let (idle, others) = state.withLock { state in
            defer {
                state.count -= state.idle.count
                state.idle = []
            }
            return (state.idle, state.suspects)
        }
        withExtendedLifetime(idle) {}
        for suspect in others { suspect() }
    }

    /// Registers what else to do about connections that may be dead.
    func whenSuspecting(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.suspects.append(body) }
    }

    /// Makes a connection that doesn't count and isn't shared.
    ///
    /// - Parameter deadline: When to give up; `nil` to give each host its time.
    func makeSession(until deadline: PostgresDeadline? = nil) async throws -> Session {
        let deadline = deadline ?? .after(connectTimeout * Double(target.hosts.count))
        let host = try state.withLock { state in
            if state.isClosed { throw Self.isClosed }
            return state.lastHost
        }
        let session = try await Session.connect(
            to: target, preferring: host, timeout: connectTimeout, until: deadline)
        state.withLock { $0.lastHost = session.host }
        return session
    }

    /// Closes the connections that are idle, and the others when they are given back.
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
            Watchdog.shared.callOff(waiter.token)
            waiter.continuation.resume(throwing: Self.isClosed)
        }
        withExtendedLifetime(idle) {}
    }

    private static var isClosed: PostgresFailure { PostgresFailure(.closed, "The database was closed.") }

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
            // It is not the server that was slow if the turn came too late to connect.
            let failure = error as? PostgresFailure
            if hasWaited, failure?.kind == .cannotConnect, deadline.hasPassed { throw Self.isExhausted(limit) }
            throw error
        }
    }

    private func takeBack(_ session: Session) async {
        if session.isUsable, session.isInTransaction {
            do {
                _ = try await session.run(Command(Statement("ROLLBACK")), patience: connectTimeout)
            } catch {
                // Then the server rolls back when the connection ends.
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

    /// Lets somebody else have the connection that wasn't made or has ended.
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
        Watchdog.shared.callOff(waiter.token)
        waiter.continuation.resume(returning: turn)
    }

    // MARK: Waiting

    /// Waits for a connection, or for the right to make one.
    ///
    /// - Returns: That, and whether others had all of them before.
    private func turn(until deadline: PostgresDeadline) async throws -> (turn: Turn, hasWaited: Bool) {
        let (turn, number): (Turn?, UInt64) = try state.withLock { state in
            if state.isClosed { throw Self.isClosed }
            if let session = state.idle.popLast() { return (.use(session), 0) }
            if state.count < limit {
                state.count += 1
                return (.connect, 0)
            }
            state.nextNumber += 1
            state.coming.insert(state.nextNumber)
            return (nil, state.nextNumber)
        }
        if let turn { return (turn, false) }
        let later: Turn = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { wait(number, until: deadline, $0) }
        } onCancel: {
            leave(number, CancellationError(), isCancellation: true)
        }
        return (later, true)
    }

    private func wait(
        _ number: UInt64,
        until deadline: PostgresDeadline,
        _ continuation: UnsafeContinuation<Turn, any Error>
    ) {
        let token = Watchdog.shared.watch(until: deadline) { [weak self, limit] in
            self?.leave(number, Self.isExhausted(limit), isCancellation: false)
        }
        let outcome: Result<Turn, any Error>? = state.withLock { state in
            state.coming.remove(number)
            if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
            if state.isClosed { return .failure(Self.isClosed) }
            // One may have come free since.
            if let session = state.idle.popLast() { return .success(.use(session)) }
            if state.count < limit {
                state.count += 1
                return .success(.connect)
            }
            // The watchdog may have looked for it in vain.
            if deadline.hasPassed { return .failure(Self.isExhausted(limit)) }
            state.waiters.append(Waiter(number: number, continuation: continuation, token: token))
            return nil
        }
        guard let outcome else { return }
        Watchdog.shared.callOff(token)
        continuation.resume(with: outcome)
    }

    private static func isExhausted(_ limit: Int) -> PostgresFailure {
        PostgresFailure(.poolExhausted, "All \(limit) connections stayed in use.")
    }

    private func leave(_ number: UInt64, _ error: any Error, isCancellation: Bool) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
                if isCancellation, state.coming.contains(number) { state.cancelled.insert(number) }
                return nil
            }
            return state.waiters.remove(at: index)
        }
        guard let waiter else { return }
        Watchdog.shared.callOff(waiter.token)
        waiter.continuation.resume(throwing: error)
    }
}
#endif
