#if Postgres
import Bodega
import CPostgres
import DequeModule
import Dispatch
import Foundation

/// A connection that many short reads share in pipeline mode.
///
/// A read goes through this cycle:
///
/// 1. `run` appends a read to `pending`. The first starts a task that connects; without a connection, reads wait.
/// 2. `sendPending` moves pending reads to `sent`, as one batch that ends with a sync. At most two batches are in
///    flight: reads that arrive while the server is busy form the next batch, so the cost per read falls with the load.
/// 3. Dispatch calls `receive` when the socket is ready. It matches each result with the first slot of `sent`, collects
///    the answers, and sends the next batch.
/// 4. A read that failed because of other reads returns to the head of `pending`: another read of the batch failed, a
///    late cancellation request stopped the wrong statement, or the server lost the prepared statement.
/// 5. A cancelled read ends immediately. If the server is working on it, a cancellation request is sent.
/// 6. At a deadline, `giveUpLateReads` ends the late reads. A read has more time if something has arrived since its
///    deadline was set, as it does while a large item is on its way. If the server is silent, it closes the connection,
///    and the other reads fail with ``PostgresFailure/Kind/silent``, so that their callers repeat them.
///
/// `lock` guards all mutable state: that of the lane, of its reads and of its socket sources, and all calls of libpq.
/// Callers and Dispatch's threads do the work under it, so that no read waits for a particular thread. Continuations
/// are resumed outside the lock.
///
/// @unchecked because mutable state is only accessed under `lock`.
final class ReadLane: @unchecked Sendable {

    /// A result to be delivered outside the lock.
    typealias Answer = (
        continuation: UnsafeContinuation<QueryResult, any Error>, result: Result<QueryResult, any Error>
    )

    /// One batch that the server is working on, and one that waits there.
    private static let maximumBatches = 2
    private static let maximumBatchSize = 256
    /// Bounds the repetitions of a read behind a proxy that keeps losing prepared statements.
    static let maximumRepeats = 16

    private let pool: SessionPool
    private let lock = NSLock()
    var line: Line?
    private var isConnecting = false
    /// Why there is no connection, as far as it is known.
    private var connectionFailure: PostgresFailure?
    private(set) var isClosed = false
    var pending: Deque<Read> = []
    /// What was sent and awaits results; empty without a connection.
    var sent: Deque<Pipeline<Read>.Slot> { line?.pipeline.slots ?? [] }
    var batches = 0
    var preparationFailure: PostgresFailure?
    private var nextCheck: PostgresDeadline?

    init(pool: SessionPool) {
        self.pool = pool
        pool.whenSuspecting { [weak self] in self?.closeIfIdle() }
    }

    // MARK: Requests

    /// Performs a read.
    ///
    /// - Throws: A ``PostgresFailure``, or `CancellationError`.
    func run(_ read: Read) async throws -> QueryResult {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { enqueue(read, $0) }
        } onCancel: {
            cancel(read)
        }
    }

    /// The number of requests without an answer.
    var load: Int { lock.withLock { pending.count + sent.count } }

    private func enqueue(_ read: Read, _ continuation: UnsafeContinuation<QueryResult, any Error>) {
        withAnswers { answers in
            if isClosed { return answers.append((continuation, .failure(PostgresFailure.closed))) }
            if read.wasCancelled { return answers.append((continuation, .failure(CancellationError()))) }
            read.continuation = continuation
            read.noteReceipts(line?.receipts ?? 0)
            pending.append(read)
            watch(until: read.nextDeadline)
            if line != nil {
                sendPending(&answers)
            } else if !isConnecting {
                isConnecting = true
                Task { await connect(until: read.deadline) }
            }
        }
    }

    private func cancel(_ read: Read) {
        lock.lock()
        read.wasCancelled = true
        let continuation = read.continuation
        read.continuation = nil
        requestCancellation()
        lock.unlock()
        continuation?.resume(throwing: CancellationError())
    }

    /// Asks the server to stop its current statement if that belongs to a cancelled read. If the request arrives late
    /// and stops a later read, that one is sent again.
    func requestCancellation() {
        guard let line else { return }
        for slot in sent {
            guard case .request(let read) = slot else { continue }
            if read.wasCancelled, !read.requestedCancellation {
                read.requestedCancellation = true
                self.line?.cancellations += 1
                ServerCancellation.send(for: line.session.connection)
            }
            return
        }
    }

    /// Calls a closure under the lock, and then delivers the answers that it collected.
    func withAnswers<Value>(_ body: (inout [Answer]) -> Value) -> Value {
        var answers: [Answer] = []
        let value = lock.withLock { body(&answers) }
        for answer in answers { answer.continuation.resume(with: answer.result) }
        return value
    }

    // MARK: Connecting

    private func connect(until deadline: PostgresDeadline) async {
        do {
            let session = try await pool.makeSession(until: deadline)
            let sources = try SocketSources(socket: PQsocket(session.connection), label: "emporium.postgres.lane")
            sources.setHandler { [weak self] in self?.receive() }
            withAnswers { answers in
                (isConnecting, connectionFailure) = (false, nil)
                if isClosed { return }
                line = Line(session: session, sources: sources)
                sources.watchesReading = true
                sendPending(&answers)
            }
        } catch {
            withAnswers { answers in
                isConnecting = false
                // A later attempt can end without an answer of the server.
                if let failure = error as? PostgresFailure, failure.code != nil { connectionFailure = failure }
                breakOff(error, &answers)
            }
        }
    }

    /// Closes the connection. All reads fail with the error; callers may repeat them.
    func breakOff(_ error: any Error, _ answers: inout [Answer]) {
        for slot in sent {
            if case .request(let read) = slot { answer(read, .failure(error), &answers) }
        }
        for read in pending { answer(read, .failure(error), &answers) }
        pending = []
        batches = 0
        preparationFailure = nil
        line = nil
    }

    /// Closes the connection if no read is in flight.
    private func closeIfIdle() {
        lock.withLock {
            if sent.isEmpty { line = nil }
        }
    }

    /// Closes the connection after the results of all sent reads have arrived.
    func close() {
        withAnswers { answers in
            isClosed = true
            if sent.isEmpty { breakOff(PostgresFailure.closed, &answers) }
        }
    }

    // MARK: Sending

    func sendPending(_ answers: inout [Answer]) {
        guard let line, batches < Self.maximumBatches, !pending.isEmpty else { return }
        var count = 0
        while count < Self.maximumBatchSize, let read = pending.popFirst() {
            if read.continuation == nil { continue }
            guard send(read) else { return breakOff(PostgresFailure.lost(line.session.connection), &answers) }
            count += 1
        }
        if count == 0 { return }
        guard self.line?.pipeline.sync(on: line.session.connection) == true else {
            return breakOff(PostgresFailure.lost(line.session.connection), &answers)
        }
        batches += 1
        flush(&answers)
    }

    private func send(_ read: Read) -> Bool {
        guard let line else { return false }
        read.demandProof(afterReceipts: line.receipts)
        watch(until: read.nextDeadline)
        return self.line?.pipeline.send(read.command, as: read, on: line.session.connection) == true
    }

    /// Flushes the output.
    ///
    /// - Returns: Whether all of it was sent.
    @discardableResult
    func flush(_ answers: inout [Answer]) -> Bool {
        guard let line else { return false }
        switch PQflush(line.session.connection) {
        case 0:
            line.sources.watchesWriting = false
            return true
        case 1:
            line.sources.watchesWriting = true
            return false
        default:
            breakOff(PostgresFailure.lost(line.session.connection), &answers)
            return false
        }
    }

    func answer(_ read: Read, _ result: Result<QueryResult, any Error>, _ answers: inout [Answer]) {
        guard let continuation = read.continuation else { return }
        read.continuation = nil
        answers.append((continuation, result))
    }

    // MARK: Deadlines

    /// Checks all reads at a deadline, unless an earlier check is scheduled, which schedules the next one.
    private func watch(until deadline: PostgresDeadline) {
        if let nextCheck, nextCheck <= deadline { return }
        nextCheck = deadline
        _ = Watchdog.shared.watch(until: deadline) { [weak self] in self?.giveUpLateReads() }
    }

    private func giveUpLateReads() {
        let isSilent = withAnswers { answers in
            nextCheck = nil
            let failure = PostgresFailure(.timedOut, "The server did not answer the read in time.")
            var hasLateReads = false
            for slot in sent {
                guard case .request(let read) = slot, isLate(read), read.continuation != nil else { continue }
                answer(read, .failure(failure), &answers)
                hasLateReads = true
            }
            for read in pending where isLate(read) {
                answer(read, .failure(line == nil ? connectionFailure ?? failure : failure), &answers)
            }
            pending.removeAll { $0.continuation == nil }
            let isSilent = hasLateReads || seemsDead
            if isSilent, let connection = line?.session.connection {
                // The callers of the other reads repeat them on another connection.
                ServerCancellation.send(for: connection)
                let failure = PostgresFailure(.silent, "The connection received nothing before the deadline of a read.")
                breakOff(failure, &answers)
            }
            let next = sent.lazy.compactMap { slot in
                if case .request(let read) = slot, !read.nextDeadline.hasPassed { read.nextDeadline } else { nil }
            }.min()
            if let next = [next, pending.lazy.map(\.nextDeadline).min()].compactMap({ $0 }).min() {
                watch(until: next)
            }
            return isSilent
        }
        if isSilent { pool.suspectConnections() }
    }

    /// Whether a read has passed its deadline, and nothing has arrived since that was set. If something has, the read
    /// gets a later deadline.
    private func isLate(_ read: Read) -> Bool {
        read.deadline.hasPassed && !read.extendDeadline(afterReceipts: line?.receipts)
    }

    /// Whether a sent read has passed its deadline for input, and the connection has received nothing since.
    private var seemsDead: Bool {
        guard let line else { return false }
        return sent.contains { slot in
            guard case .request(let read) = slot else { return false }
            return read.seemsLost(afterReceipts: line.receipts)
        }
    }
}

extension [ReadLane] {
    /// The load from which the next lane is used. A high value saves connections and lets reads share batches.
    private static var sufficientLoad: Int { 8 }

    /// The lane for the next read, of at least one lane.
    var next: ReadLane {
        var best = self[0]
        var least = Int.max
        for lane in self {
            let load = lane.load
            if load < Self.sufficientLoad { return lane }
            if load < least { (best, least) = (lane, load) }
        }
        return best
    }
}

extension ReadLane {

    /// The connection of a lane.
    struct Line {
        let session: Session
        let sources: SocketSources
        var pipeline = Pipeline<Read>()
        /// The number of times input was received.
        var receipts = 0
        /// The number of cancellation requests without an observed effect.
        var cancellations = 0
    }

    /// A read in progress.
    ///
    /// @unchecked because mutable state is only accessed under the lane's lock.
    final class Read: @unchecked Sendable {
        let command: Command
        private(set) var deadline: PostgresDeadline
        /// The time from one deadline to the next, in seconds.
        private let timeLimit: TimeInterval
        private let isFirstAttempt: Bool
        /// The deadline for any input from the server; `nil` before the read was sent.
        private(set) var deadlineForProof: PostgresDeadline?
        var continuation: UnsafeContinuation<QueryResult, any Error>?
        var wasCancelled = false
        var requestedCancellation = false
        /// The number of times it was sent again because other reads made it fail.
        var repeats = 0
        /// The lane's receipts when the read was sent.
        private var receiptsBefore = 0
        /// The lane's receipts when the deadline was set.
        private var receiptsAtDeadline = 0

        /// - Parameter isFirstAttempt: Whether to keep half of the time for an attempt on another connection.
        init(_ command: Command, until deadline: PostgresDeadline, isFirstAttempt: Bool = false) {
            self.command = command
            self.deadline = deadline
            timeLimit = deadline.remaining
            self.isFirstAttempt = isFirstAttempt
        }

        /// The next deadline at which to check the read.
        var nextDeadline: PostgresDeadline {
            if let deadlineForProof, !deadlineForProof.hasPassed { deadlineForProof } else { deadline }
        }

        /// Sets the deadline for any input. Call it when the read is sent.
        func demandProof(afterReceipts receipts: Int) {
            (receiptsBefore, receiptsAtDeadline) = (receipts, receipts)
            deadlineForProof = isFirstAttempt ? .after(deadline.remaining / 2) : deadline
        }

        /// Notes the lane's receipts when the read begins to wait.
        func noteReceipts(_ receipts: Int) { receiptsAtDeadline = receipts }

        /// Sets a later deadline if the connection has received something since the last one was set.
        ///
        /// - Parameter receipts: The lane's receipts; `nil` without a connection.
        /// - Returns: Whether it did.
        func extendDeadline(afterReceipts receipts: Int?) -> Bool {
            guard let receipts, receipts > receiptsAtDeadline else { return false }
            (deadline, receiptsAtDeadline) = (.after(timeLimit), receipts)
            return true
        }

        /// Whether the connection has received nothing since the read was sent, and the deadline for input has passed.
        func seemsLost(afterReceipts receipts: Int) -> Bool {
            receiptsBefore == receipts && deadlineForProof?.hasPassed == true
        }
    }
}
#endif
