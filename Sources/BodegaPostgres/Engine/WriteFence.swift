#if Postgres
import Bodega
import Foundation
import Logging

/// Finds out whether a write was applied whose answer never came, and keeps it from being applied later.
///
/// 1. A write failed, and what it sent may still be on its way to the server, or in a server process that is stopped.
/// 2. The fence notes the identifier of the write's request in the log, on a new connection. The identifier can stand
///    there once. If it is there already, the write was applied. If not, it never will be: its transaction fails when it
///    comes to note the identifier itself.
/// 3. A transaction that has noted it and not ended yet is in the way. It is ended; if that takes long, it *holds* the
///    rows that it has changed, so that later writes of the same keys wait for it by themselves.
/// 4. If the server can't be reached in time, the caller is told that the outcome is not known. The fence keeps trying,
///    and later writes to the collection wait until it is done.
///
/// `state` guards everything that changes. One task at a time does the work, on one connection.
final class WriteFence: Sendable {

    enum Outcome: Sendable {
        case applied
        case neverApplied
        case unknown
    }

    /// A write whose outcome is not known.
    struct Doubt: Sendable {
        let request: ChangeRequest
        /// The server processes that may still be at it.
        var backends: [Session.Backend] = []
    }

    private struct Entry {
        let doubt: Doubt
        var waiter: UnsafeContinuation<Outcome, Never>?
        /// Whether the transaction was seen to have noted the request, and so to hold its rows.
        var isHeld = false
    }

    private struct State {
        var entries: [UUID: Entry] = [:]
        /// Writes that wait for those whose callers were told that the outcome is not known.
        var followers: [UInt64: (collection: Int32, continuation: UnsafeContinuation<Void, any Error>)] = [:]
        var nextFollower: UInt64 = 0
        var isWorking = false
        var lastFailure: (any Error)?

        func mustWait(_ collection: Int32) -> Bool {
            entries.values.contains { $0.waiter == nil && !$0.isHeld && $0.doubt.request.collection == collection }
        }
    }

    private let pool: SessionPool
    private let clock: any Clock<Duration>
    private let timeout: TimeInterval
    private let state = Locked(State())

    init(pool: SessionPool, clock: any Clock<Duration>, timeout: TimeInterval) {
        self.pool = pool
        self.clock = clock
        self.timeout = timeout
    }

    /// Settles the outcome of a write.
    ///
    /// - Returns: ``Outcome/unknown`` if the server could not be asked before the deadline, or the transaction not be ended.
    func settle(_ doubt: Doubt, until deadline: PostgresDeadline) async -> Outcome {
        let identifier = doubt.request.identifier
        return await withUnsafeContinuation { continuation in
            let mustStart = state.withLock { state in
                state.entries[identifier] = Entry(doubt: doubt, waiter: continuation)
                defer { state.isWorking = true }
                return !state.isWorking
            }
            _ = Watchdog.shared.watch(until: deadline) { [weak self] in self?.giveUpWaiting(identifier) }
            if mustStart { Task { await work() } }
        }
    }

    /// Waits until no earlier write to a collection can be applied late. Nearly always that is so.
    ///
    /// - Throws: A ``PostgresFailure`` if the deadline passes before.
    func pass(_ collection: Int32, until deadline: PostgresDeadline) async throws {
        guard state.withLock({ $0.mustWait(collection) }) else { return }
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            let number: UInt64? = state.withLock { state in
                guard state.mustWait(collection) else { return nil }
                state.nextFollower += 1
                state.followers[state.nextFollower] = (collection, continuation)
                return state.nextFollower
            }
            guard let number else { return continuation.resume() }
            _ = Watchdog.shared.watch(until: deadline) { [weak self] in self?.turnAway(number) }
        }
    }

    // MARK: Waiting

    private func giveUpWaiting(_ identifier: UUID) {
        let waiter = state.withLock { state in
            defer { state.entries[identifier]?.waiter = nil }
            return state.entries[identifier]?.waiter
        }
        waiter?.resume(returning: .unknown)
    }

    private func turnAway(_ number: UInt64) {
        let (follower, failure) = state.withLock { state in
            (state.followers.removeValue(forKey: number), state.lastFailure)
        }
        let message = "An earlier write must be settled first, and the server could not be asked about it."
        follower?.continuation.resume(throwing: failure ?? PostgresFailure(.cannotConnect, message))
    }

    private func end(_ identifier: UUID, _ outcome: Outcome) {
        let waiter = state.withLock { $0.entries.removeValue(forKey: identifier)?.waiter }
        waiter?.resume(returning: outcome)
        letFollowersPass()
    }

    private func letFollowersPass() {
        let free = state.withLock { state in
            let free = state.followers.filter { !state.mustWait($0.value.collection) }
            for number in free.keys { state.followers[number] = nil }
            return free
        }
        for follower in free.values { follower.continuation.resume() }
    }

    // MARK: Working

    private func work() async {
        var pause = Backoff.outage
        while let doubts = next() {
            do {
                let session = try await pool.makeSession()
                for doubt in doubts { try await fence(doubt, session) }
            } catch let failure as PostgresFailure where failure.kind == .closed {
                for doubt in doubts { end(doubt.request.identifier, .unknown) }
                continue
            } catch {
                bodegaLogger.debug("The outcome of a write could not be settled.", metadata: ["error": "\(error)"])
                state.withLock { $0.lastFailure = error }
            }
            if state.withLock({ $0.entries.isEmpty }) { continue }
            do { try await clock.sleep(for: pause.next()) } catch { bodegaLogger.debug("The clock stopped: \(error)") }
        }
    }

    /// What is to be settled; `nil` if there is nothing, which ends the work.
    private func next() -> [Doubt]? {
        state.withLock { state in
            if state.entries.isEmpty {
                state.isWorking = false
                state.lastFailure = nil
                return nil
            }
            return state.entries.values.map(\.doubt)
        }
    }

    private func fence(_ doubt: Doubt, _ session: Session) async throws {
        let request = doubt.request
        var parameters = Parameters()
        parameters.append(request.collection)
        parameters.append(request.origin)
        parameters.append(request.identifier)
        let commands = [
            Command(Statement("BEGIN ISOLATION LEVEL READ COMMITTED")), Command(Self.limits),
            Command(Self.note, parameters), Command(Statement("COMMIT")),
        ]
        do {
            let answers = try await session.run(commands, patience: timeout)
            try answers.requireAll(commands.count)
            end(request.identifier, answers[2].count == 0 ? .applied : .neverApplied)
        } catch let failure as PostgresFailure where failure.code == "55P03" {
            _ = try await session.run(Command(Statement("ROLLBACK")), patience: timeout)
            state.withLock { $0.entries[request.identifier]?.isHeld = true }
            letFollowersPass()
            try await endTransaction(of: doubt, session)
        }
    }

    private func endTransaction(of doubt: Doubt, _ session: Session) async throws {
        var parameters = Parameters()
        let backends = doubt.backends.filter { $0.host == session.host }
        parameters.appendArray(of: .int8, backends) { $0.append(Int64($1.process)) }
        _ = try await session.run(Command(Self.terminate, parameters), patience: timeout)
    }

    /// A lock is waited for as long as it takes to end a transaction that is about to end. No standby is waited for: one
    /// that takes over without this row does not have the transaction either.
    private static let limits = Statement(
        "SELECT set_config('lock_timeout', '250ms', true), set_config('synchronous_commit', 'local', true)")

    private static let note = Statement(
        """
        INSERT INTO emporium_changes (collection, origin, request, part, written, removed, removes_all)
        VALUES ($1, $2, $3, 0, '{}', '{}', false)
        ON CONFLICT (request, part) DO NOTHING RETURNING 1
        """
    )

    /// Ends processes that are in a transaction. That they still have the numbers that they had is certain, because one of
    /// them holds the lock.
    private static let terminate = Statement(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid = ANY($1::bigint[]) AND usename = current_user AND backend_xid IS NOT NULL
        """
    )
}
#endif
