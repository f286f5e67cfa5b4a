#if Postgres
import Bodega
import DequeModule
import Foundation

/// A transaction with one snapshot, from which the reads of a task answer, see `StorageDatabase.atOneMoment(_:)`.
///
/// 1. `begin` starts the transaction, whose first statement takes the snapshot.
/// 2. A read waits for its turn in `waiters`, and uses the session. After an error, it resets the transaction to its
///    start, so that others can read on.
/// 3. `end` waits for the read in progress. Later reads, and those that still wait, find that the moment has ended and
///    are carried out as usual. The pool rolls the transaction back.
/// 4. If the task of the moment is cancelled, the read in progress is stopped on the server, and the session is not
///    used again. Tasks in it that are cancelled alone stop after their read, because the others need the session.
///
/// The lock of `state` guards all mutable state. Only the read whose turn it is uses the session.
final class PostgresMoment: Sendable {

    private struct State {
        /// `nil` after the end. A task that outlives the moment would keep the connection open.
        var session: Session?
        var isBusy = false
        var waiters: Deque<UnsafeContinuation<Void, Never>> = []
        var wasCancelled = false
        var failure: PostgresFailure?
    }

    private let state: Locked<State>

    /// - Parameter session: The session, which has begun the transaction.
    private init(_ session: Session) { state = Locked(State(session: session)) }

    /// Begins a moment on a session.
    ///
    /// - Parameter adoptLog: Adopts a log of changes that was written in another database, as a moment can't write.
    static func begin(_ session: Session, _ adoptLog: () async throws -> Void) async throws -> PostgresMoment {
        let beginning = [Command.beginSnapshot, Command(ChangeStatements.state), .markMoment]
        let state = try await session.run(beginning)[1]
        if state.count == 1, try !state.flag(0, 1) {
            _ = try await session.run(.rollback)
            try await adoptLog()
            _ = try await session.run(beginning)
        }
        session.isAtMoment = true
        return PostgresMoment(session)
    }

    /// Whether reads still answer from it.
    var isOpen: Bool { state.withLock { $0.session != nil } }

    /// The first failure of a read that concerns the whole moment.
    var failure: PostgresFailure? { state.withLock { $0.failure } }

    /// Reads at the moment.
    ///
    /// - Returns: `nil` after the moment has ended.
    func read<Value>(_ body: (Session) async throws -> Value) async throws -> Value? {
        await takeTurn()
        defer { passTurn() }
        guard let session = state.withLock({ $0.session }) else { return nil }
        try Task.checkCancellation()
        do {
            let value = try await body(session)
            try Task.checkCancellation()
            return value
        } catch {
            if state.withLock({ $0.wasCancelled }) { throw CancellationError() }
            await recover(session, from: error)
            throw error
        }
    }

    /// Resets the transaction after an error, which may have aborted it, and notes an error that concerns later reads.
    private func recover(_ session: Session, from error: any Error) async {
        var failure = error as? PostgresFailure
        if session.isUsable {
            do {
                _ = try await session.run(.resetMoment)
                if failure?.isConflict != true { return }
            } catch {
                failure = error as? PostgresFailure ?? failure
            }
        }
        state.withLock { $0.failure = $0.failure ?? failure }
    }

    /// Ends the moment.
    func end() async {
        await takeTurn()
        state.withLock { state in
            state.session?.isAtMoment = false
            // A late request would cancel a statement of the next task.
            if state.wasCancelled { state.session?.retire() }
            state.session = nil
        }
        passTurn()
    }

    /// Stops the read in progress.
    func cancel() {
        state.withLock { state in
            guard let session = state.session else { return }
            state.wasCancelled = true
            if state.isBusy { ServerCancellation.send(for: session.connection) }
        }
    }

    // MARK: Turns

    private func takeTurn() async {
        await withUnsafeContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isBusy { state.waiters.append(continuation) }
                defer { state.isBusy = true }
                return !state.isBusy
            }
            if isFree { continuation.resume() }
        }
    }

    private func passTurn() {
        let next = state.withLock { state in
            let next = state.waiters.popFirst()
            state.isBusy = next != nil
            return next
        }
        next?.resume()
    }
}

extension Command {
    fileprivate static let markMoment = Command(Statement("SAVEPOINT emporium_moment"))
    /// Undoes what a read has done to the transaction: an error, or settings.
    fileprivate static let resetMoment = Command(Statement("ROLLBACK TO SAVEPOINT emporium_moment"))
}

extension Session {
    /// Begins a transaction in which all statements read the same snapshot. At a moment, it is open.
    var beginSnapshot: Command { isAtMoment ? .resetMoment : .beginSnapshot }
    /// Ends the transaction of ``beginSnapshot``, except for that of a moment.
    var endSnapshot: Command { isAtMoment ? .resetMoment : .commit }
}

extension PostgresDatabase {

    /// Runs a closure whose reads of the collections, in its task, answer from one moment. See
    /// ``/Bodega/StorageDatabase/atOneMoment(_:)``.
    ///
    /// The moment is a transaction on a connection of its own, in addition to ``Options/maximumConnections``, so that
    /// writes in the closure have theirs. A database has at most a quarter as many for moments, at least one. More
    /// moments wait for up to ``Options/timeout``, so don't begin one in another task and wait for it in the closure.
    ///
    /// If the server becomes unreachable, the closure runs again. Keep it short: the server keeps the items that are
    /// removed or overwritten until the moment ends.
    public func atOneMoment(_ body: @Sendable () async throws -> Void) async throws {
        if isAtMoment { return try await body() }
        let deadline = PostgresDeadline.after(options.timeout)
        do {
            try await retries.untilDone(by: deadline) { _ in
                try await moments.withSession(until: deadline) { session in
                    let moment = try await PostgresMoment.begin(session) { try await adoptLog() }
                    try await run(body, at: moment)
                }
            }
        } catch let failure as PostgresFailure {
            throw StorageError.postgres(failure)
        }
    }

    private func run(_ body: @Sendable () async throws -> Void, at moment: PostgresMoment) async throws {
        do {
            try await withTaskCancellationHandler {
                try await StorageMoment.run(of: self, moment, body)
            } onCancel: {
                moment.cancel()
            }
        } catch {
            await moment.end()
            // Repeated, if that may help.
            if let failure = moment.failure, failure.isConflict || failure.isOutage { throw failure }
            throw error
        }
        await moment.end()
    }

    /// Whether the current task reads this database at one moment.
    var isAtMoment: Bool { moment != nil }

    /// The moment at which the current task reads this database.
    private var moment: PostgresMoment? {
        (StorageMoment.state(of: self) as? PostgresMoment).flatMap { $0.isOpen ? $0 : nil }
    }

    private func adoptLog() async throws {
        do {
            try await pool.withSession { try await LogAdoption.adoptIfNeeded($0) }
        } catch let failure as PostgresFailure where failure.forbidsWriting {
            // A read of the log throws, others don't need it.
        }
    }

    /// Performs a read on a session: that of the moment of the task, or else as ``perform(key:_:)`` does.
    func reading<Value>(key: CacheKey? = nil, _ body: @escaping (Session) async throws -> Value) async throws -> Value {
        if let value = try await readAtMoment(key: key, body) { return value }
        return try await perform(key: key, body)
    }

    /// Performs a read at the moment of the task, and returns `nil` if it has none.
    func readAtMoment<Value>(key: CacheKey?, _ body: (Session) async throws -> Value) async throws -> Value? {
        guard let moment else { return nil }
        do {
            return try await moment.read(body)
        } catch {
            throw StorageError.postgres(pool.explained(error), key: key)
        }
    }
}
#endif
