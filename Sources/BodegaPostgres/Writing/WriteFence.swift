#if Postgres
import Bodega
import Foundation
import Logging

/// Determines the outcome of writes without a result, and prevents them from being applied later.
///
/// 1. A write fails. Its statements may still be on their way to the server, or in a stopped server process. `settle`
///    adds an entry, and starts a task if none is working.
/// 2. On a new connection, the task inserts the identifier of the write's request into the log, where it is unique. If
///    the write has inserted it before, the write was applied. Otherwise it never will be: its transaction fails when
///    it inserts the identifier itself. The task terminates the server processes that may still execute the write.
/// 3. A transaction that has inserted the identifier and is still open blocks step 2. It *holds* the rows that it has
///    changed, so that later writes of the same keys wait on the server. The task repeats step 2 after a pause.
/// 4. If the outcome is unknown at the deadline, the caller of `settle` receives ``Outcome/unknown``. The task keeps
///    trying, and `pass` suspends later writes to its collections until the outcome is determined or the rows are held.
/// 5. The task ends when there are no entries.
///
/// The lock of `state` guards all mutable state. At most one task works, on one connection at a time. Continuations are
/// resumed outside the lock.
final class WriteFence: Sendable {

    enum Outcome: Sendable {
        case applied
        case neverApplied
        case unknown
    }

    /// A write with an unknown outcome.
    struct UnsettledWrite: Sendable {
        /// Its request; one of them if it changes several collections.
        let request: ChangeRequest
        /// Whether it logs that request only after it has locked all rows that it changes.
        let locksFirst: Bool
        /// The collections that it reads or changes.
        let collections: Set<Int32>
        /// The server processes that may still execute it.
        var backends: [Session.Backend] = []

        /// - Parameter collections: The collections; `nil` for that of the request.
        init(request: ChangeRequest, locksFirst: Bool, collections: Set<Int32>? = nil) {
            (self.request, self.locksFirst) = (request, locksFirst)
            self.collections = collections ?? [request.collection]
        }
    }

    private struct Entry {
        let write: UnsettledWrite
        var waiter: UnsafeContinuation<Outcome, Never>?
        /// Whether an open transaction is known to have logged the request, and so holds its rows.
        var isHeld = false
    }

    private struct State {
        var entries: [UUID: Entry] = [:]
        /// Later writes, which wait for entries with an unknown outcome.
        var laterWrites: [UInt64: (collections: Set<Int32>, continuation: UnsafeContinuation<Void, any Error>)] = [:]
        var nextNumber: UInt64 = 0
        var isWorking = false
        var lastFailure: (any Error)?

        func mustWait(_ collections: Set<Int32>) -> Bool {
            entries.values.contains { entry in
                entry.waiter == nil && !entry.isHeld && !entry.write.collections.isDisjoint(with: collections)
            }
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

    /// Determines the outcome of a write.
    ///
    /// - Returns: The outcome; ``Outcome/unknown`` if it could not be determined before the deadline.
    func settle(_ write: UnsettledWrite, until deadline: PostgresDeadline) async -> Outcome {
        let identifier = write.request.identifier
        return await withUnsafeContinuation { continuation in
            let mustStart = state.withLock { state in
                state.entries[identifier] = Entry(write: write, waiter: continuation)
                defer { state.isWorking = true }
                return !state.isWorking
            }
            _ = Watchdog.shared.watch(until: deadline) { [weak self] in self?.giveUpWaiting(identifier) }
            if mustStart { Task { await work() } }
        }
    }

    /// Waits until no earlier write to some collections can be applied late. It returns immediately if none is
    /// unsettled.
    ///
    /// - Throws: A ``PostgresFailure`` at the deadline.
    func pass(_ collections: Set<Int32>, until deadline: PostgresDeadline) async throws {
        guard state.withLock({ $0.mustWait(collections) }) else { return }
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            let number: UInt64? = state.withLock { state in
                guard state.mustWait(collections) else { return nil }
                state.nextNumber += 1
                state.laterWrites[state.nextNumber] = (collections, continuation)
                return state.nextNumber
            }
            guard let number else { return continuation.resume() }
            _ = Watchdog.shared.watch(until: deadline) { [weak self] in self?.failLaterWrite(number) }
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

    private func failLaterWrite(_ number: UInt64) {
        let (write, failure) = state.withLock { state in
            (state.laterWrites.removeValue(forKey: number), state.lastFailure)
        }
        let message = "An earlier write is not settled yet, because the server could not be reached. Try again later."
        write?.continuation.resume(throwing: failure ?? PostgresFailure(.cannotConnect, message))
    }

    private func end(_ identifier: UUID, _ outcome: Outcome) {
        let waiter = state.withLock { $0.entries.removeValue(forKey: identifier)?.waiter }
        waiter?.resume(returning: outcome)
        letLaterWritesPass()
    }

    private func letLaterWritesPass() {
        let free = state.withLock { state in
            let free = state.laterWrites.filter { !state.mustWait($0.value.collections) }
            for number in free.keys { state.laterWrites[number] = nil }
            return free
        }
        for write in free.values { write.continuation.resume() }
    }

    // MARK: Working

    private func work() async {
        var pause = Backoff.outage
        while let writes = next() {
            do {
                let session = try await pool.makeSession(patience: timeout)
                for write in writes { try await fence(write, session) }
            } catch let failure as PostgresFailure where failure.kind == .closed {
                for write in writes { end(write.request.identifier, .unknown) }
                continue
            } catch {
                bodegaLogger.debug(
                    "The outcome of a write could not be determined. Retrying…", metadata: ["error": "\(error)"])
                state.withLock { $0.lastFailure = error }
            }
            if state.withLock({ $0.entries.isEmpty }) { continue }
            do { try await clock.sleep(for: pause.next()) } catch {
                bodegaLogger.debug("The pause before a retry failed.", metadata: ["error": "\(error)"])
            }
        }
    }

    /// The unsettled writes; `nil` if there are none, which ends the task.
    private func next() -> [UnsettledWrite]? {
        state.withLock { state in
            if state.entries.isEmpty {
                state.isWorking = false
                state.lastFailure = nil
                return nil
            }
            return state.entries.values.map(\.write)
        }
    }

    private func fence(_ write: UnsettledWrite, _ session: Session) async throws {
        let request = write.request
        let begin = [.begin, Command(Self.limits), Command(Self.lockLog)]
        // A batch of its own: only a lock that blocks the insertion belongs to the write's transaction.
        _ = try await session.run(begin)
        let commands = [
            Command(Self.insertRequest, request.collection, request.identifier),
            Command(Self.isOwnRow, request.collection, request.identifier), .commit,
        ]
        do {
            let answers = try await session.run(commands)
            end(request.identifier, try answers[1].flag(0, 0) ? .neverApplied : .applied)
        } catch let failure as PostgresFailure where failure.code == "55P03" {
            _ = try await session.run(.rollback)
            // With several attempts, another one may still be on its way.
            if write.locksFirst, write.backends.count == 1 {
                state.withLock { $0.entries[request.identifier]?.isHeld = true }
                letLaterWritesPass()
            }
        }
        try await endTransactions(of: write, session)
    }

    /// Terminates the server processes that may still execute a write. Otherwise they could hold row locks for hours,
    /// until the server detects the dead connection.
    private func endTransactions(of write: UnsettledWrite, _ session: Session) async throws {
        let backends = write.backends.filter { $0.host == session.host }
        let command = Command(
            Self.terminate, BinaryArray(backends.map { Int64($0.process) }),
            BinaryArray(backends.map { Int64($0.connected.elapsed * 1000) }))
        do {
            _ = try await session.run(command)
        } catch let failure as PostgresFailure where failure.code == "42501" {
            bodegaLogger.debug(
                "A server process could not be terminated: the user lacks the right.", metadata: ["error": "\(failure)"]
            )
        }
    }

    /// The time limit for locks suffices for a transaction that is about to end. The commit does not wait for a
    /// standby: a standby that takes over without this row lacks the write's transaction, too.
    private static let limits = Statement(
        "SELECT set_config('lock_timeout', '250ms', true), set_config('synchronous_commit', 'local', true)")

    private static let lockLog = Statement("LOCK TABLE emporium_changes IN ROW EXCLUSIVE MODE")

    /// A row of the fence has the request as its origin, unlike a write's. So it is recognized if its result was lost.
    private static let insertRequest = Statement(
        """
        INSERT INTO emporium_changes (collection, origin, request, part, written, removed, removes_all)
        VALUES ($1, $2, $2, 0, '{}', '{}', false)
        ON CONFLICT (request, part) DO NOTHING
        """)
    private static let isOwnRow = Statement(
        "SELECT origin = request FROM emporium_changes WHERE collection = $1 AND request = $2 AND part = 0")

    /// A process that reuses the number of another one is younger than the connection.
    private static let terminate = Statement(
        """
        SELECT pg_terminate_backend(pid)
        FROM unnest($1::bigint[], $2::bigint[]) AS old (process, age)
        JOIN pg_stat_activity ON pid = process
        WHERE usename = session_user AND backend_start <= clock_timestamp() - age * interval '1 millisecond'
        """)
}
#endif
