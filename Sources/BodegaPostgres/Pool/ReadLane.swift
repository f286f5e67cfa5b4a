#if Postgres
import Bodega
import CPostgres
import DequeModule
import Dispatch
import Foundation

/// A connection that many short reads share, several under way at once.
///
/// What is asked for while the server is busy goes out together when it has answered: the more there is to do, the less
/// each costs. The thread that asks also sends, and the thread that finds an answer hands it out, under one lock, so
/// that a read waits for no other thread.
///
/// @unchecked because all that changes is only reached under `lock`.
final class ReadLane: @unchecked Sendable {

    /// What is to be told to who asked, outside of the lock.
    private typealias Answer = (
        continuation: UnsafeContinuation<QueryResult, any Error>, result: Result<QueryResult, any Error>
    )

    /// The number of batches that are under way at once: one that the server works at, and one that waits there.
    private static let mostBatches = 2
    private static let largestBatch = 256
    /// A server that forgets statements, as some that stand between do, would have a read sent again for ever.
    private static let mostRepeats = 16

    private let pool: SessionPool
    private let lock = NSLock()
    private var line: Line?
    private var isConnecting = false
    private var isClosed = false
    private var pending: Deque<Read> = []
    private var sent: Deque<Slot> = []
    private var batches = 0
    private var preparationFailure: PostgresFailure?
    /// Whether the batch at the head has failed when it was about to end.
    private var endHasFailed = false
    private var nextLook: PostgresDeadline?

    init(pool: SessionPool) {
        self.pool = pool
    }

    // MARK: Asking

    /// Does a read, unless the lane has more to do than it should.
    ///
    /// - Returns: `nil` if it has.
    func run(_ read: Read) async throws -> QueryResult {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { enqueue(read, $0) }
        } onCancel: {
            cancel(read)
        }
    }

    /// The number of reads that wait for an answer, as far as that can be told without waiting.
    var load: Int { lock.withLock { pending.count + sent.count } }

    private func enqueue(_ read: Read, _ continuation: UnsafeContinuation<QueryResult, any Error>) {
        var answers: [Answer] = []
        lock.lock()
        if isClosed {
            answers.append((continuation, .failure(Self.isClosedFailure)))
        } else if read.wasCancelled {
            answers.append((continuation, .failure(CancellationError())))
        } else {
            read.continuation = continuation
            pending.append(read)
            watch(until: read.nextDeadline)
            if line != nil {
                sendPending(&answers)
            } else if !isConnecting {
                isConnecting = true
                Task { await connect(until: read.deadline) }
            }
        }
        lock.unlock()
        Self.tell(answers)
    }

    private func cancel(_ read: Read) {
        lock.lock()
        read.wasCancelled = true
        let continuation = read.continuation
        read.continuation = nil
        tellServerOfCancelledRead()
        lock.unlock()
        continuation?.resume(throwing: CancellationError())
    }

    /// Stops what the server is working at if nobody wants it any more. A read behind it that is stopped instead,
    /// because this comes late, is sent again.
    private func tellServerOfCancelledRead() {
        guard let line else { return }
        for slot in sent {
            guard case .read(let read) = slot else { continue }
            if read.wasCancelled, !read.serverWasTold {
                read.serverWasTold = true
                self.line?.cancellations += 1
                ServerCancellation.send(for: line.session.connection)
            }
            return
        }
    }

    private static func tell(_ answers: [Answer]) {
        for answer in answers { answer.continuation.resume(with: answer.result) }
    }

    // MARK: Connecting

    private func connect(until deadline: PostgresDeadline) async {
        do {
            let session = try await pool.makeSession(until: deadline)
            let source = try LaneSource(socket: PQsocket(session.connection)) { [weak self] in self?.receive() }
            install(Line(session: session, source: source))
        } catch {
            breakOff(error, wasConnecting: true)
        }
    }

    private func install(_ newLine: Line) {
        var answers: [Answer] = []
        lock.lock()
        isConnecting = false
        if !isClosed {
            line = newLine
            sendPending(&answers)
        }
        lock.unlock()
        Self.tell(answers)
    }

    /// Ends the connection; who asked may ask again.
    private func breakOff(_ error: any Error, wasConnecting: Bool = false) {
        var answers: [Answer] = []
        lock.lock()
        if wasConnecting { isConnecting = false }
        breakOff(error, &answers)
        lock.unlock()
        Self.tell(answers)
    }

    private func breakOff(_ error: any Error, _ answers: inout [Answer]) {
        for slot in sent {
            if case .read(let read) = slot { answer(read, .failure(error), &answers) }
        }
        for read in pending { answer(read, .failure(error), &answers) }
        sent = []
        pending = []
        batches = 0
        preparationFailure = nil
        endHasFailed = false
        line = nil
    }

    /// Ends the connection if nothing is under way on it.
    func closeIfIdle() {
        lock.withLock {
            if sent.isEmpty { line = nil }
        }
    }

    /// Ends the connection when the answers to what was sent have come.
    func close() {
        let isDone = lock.withLock {
            isClosed = true
            return sent.isEmpty
        }
        if isDone { breakOff(Self.isClosedFailure) }
    }

    private static var isClosedFailure: PostgresFailure { PostgresFailure(.closed, "The database was closed.") }

    // MARK: Sending

    private func sendPending(_ answers: inout [Answer]) {
        guard let line, batches < Self.mostBatches, !pending.isEmpty else { return }
        var count = 0
        while count < Self.largestBatch, let read = pending.popFirst() {
            if read.continuation == nil { continue }
            guard send(read) else { return breakOff(PostgresFailure.lost(line.session.connection), &answers) }
            count += 1
        }
        if count == 0 { return }
        guard PQpipelineSync(line.session.connection) == 1 else {
            return breakOff(PostgresFailure.lost(line.session.connection), &answers)
        }
        sent.append(.sync)
        batches += 1
        flush(&answers)
    }

    private func send(_ read: Read) -> Bool {
        guard let line, case let connection = line.session.connection else { return false }
        read.demandProof(afterReceipts: line.receipts)
        watch(until: read.nextDeadline)
        let statement = read.command.statement
        // What is sent stands in the list before, so that it is answered if it can't be sent.
        if let name = statement.name, !line.prepared.contains(name) {
            sent.append(.preparation(name))
            sent.append(.read(read))
            guard PQsendPrepare(connection, name, statement.sql, 0, nil) == 1 else { return false }
            self.line?.prepared.insert(name)
        } else {
            sent.append(.read(read))
        }
        return read.command.send(on: connection)
    }

    /// - Returns: Whether all is sent.
    @discardableResult
    private func flush(_ answers: inout [Answer]) -> Bool {
        guard let line else { return false }
        switch PQflush(line.session.connection) {
        case 0:
            line.source.wantsToWrite = false
            return true
        case 1:
            line.source.wantsToWrite = true
            return false
        default:
            breakOff(PostgresFailure.lost(line.session.connection), &answers)
            return false
        }
    }

    // MARK: Receiving

    private func receive() {
        // To the end of what there is: Dispatch tells only once that the other side is gone.
        while receiveSome() {}
    }

    /// - Returns: Whether there is more.
    private func receiveSome() -> Bool {
        var answers: [Answer] = []
        lock.lock()
        if let connection = line?.session.connection {
            let isConnected = PQconsumeInput(connection) == 1
            line?.receipts += 1
            // With something unsent, libpq would wait for room before it hands out a result.
            if flush(&answers) { takeResults(connection, &answers) }
            if !isConnected, line != nil { breakOff(PostgresFailure.lost(connection), &answers) }
            sendPending(&answers)
            tellServerOfCancelledRead()
            if isClosed, sent.isEmpty { breakOff(Self.isClosedFailure, &answers) }
        }
        let hasMore = line.map { SocketWatch.isReady(PQsocket($0.session.connection), toRead: true, toWrite: false) }
        lock.unlock()
        Self.tell(answers)
        return hasMore ?? false
    }

    private func takeResults(_ connection: OpaquePointer, _ answers: inout [Answer]) {
        while let slot = sent.first, PQisBusy(connection) == 0 {
            if let result = PQgetResult(connection) {
                take(result, for: slot, &answers)
                if line == nil { return }
            } else {
                if PQstatus(connection) != CONNECTION_OK { return }
                guard endSlot(slot) else { return breakOff(Self.isOutOfStep, &answers) }
            }
        }
    }

    /// Takes note that there is nothing more for a slot.
    ///
    /// A sync has an end of its own only if the transaction could not be committed. What it is itself comes after that.
    ///
    /// - Returns: Whether that can be.
    private func endSlot(_ slot: Slot) -> Bool {
        guard case .sync = slot else {
            sent.removeFirst()
            return true
        }
        defer { endHasFailed = false }
        return endHasFailed
    }

    private static var isOutOfStep: PostgresFailure {
        PostgresFailure(.connectionLost, "The server's answers are not those to what was asked.")
    }

    private func take(_ result: OpaquePointer, for slot: Slot, _ answers: inout [Answer]) {
        switch (PQresultStatus(result), slot) {
        case (PGRES_TUPLES_OK, .read(let read)), (PGRES_COMMAND_OK, .read(let read)):
            answer(read, .success(QueryResult(result)), &answers)
            return
        case (PGRES_PIPELINE_SYNC, .sync):
            sent.removeFirst()
            batches -= 1
            preparationFailure = nil
            endHasFailed = false
        case (PGRES_PIPELINE_ABORTED, .read(let read)):
            if let failure = preparationFailure {
                preparationFailure = nil
                refuse(read, failure, &answers)
            } else if read.continuation != nil {
                // Another one failed.
                pending.prepend(read)
            }
        case (PGRES_PIPELINE_ABORTED, .preparation(let name)):
            line?.prepared.remove(name)
        case (PGRES_FATAL_ERROR, _):
            fail(.refused(result), slot, &answers)
        case (PGRES_COMMAND_OK, .preparation):
            break
        default:
            breakOff(Self.isOutOfStep, &answers)
        }
        PQclear(result)
    }

    private func fail(_ failure: PostgresFailure, _ slot: Slot, _ answers: inout [Answer]) {
        if failure.endsConnection { return breakOff(failure, &answers) }
        switch slot {
        case .preparation(let name):
            line?.prepared.remove(name)
            preparationFailure = failure
        case .read(let read):
            if failure.code == "26000", let name = read.command.statement.name { line?.prepared.remove(name) }
            refuse(read, failure, &answers)
        case .sync:
            // What was read is true all the same.
            endHasFailed = true
        }
    }

    /// Answers a read that has failed, or sends it again if that was because of others.
    private func refuse(_ read: Read, _ failure: PostgresFailure, _ answers: inout [Answer]) {
        // What was to stop another one came late; or the batch before was to prepare the statement and failed. If nothing
        // was to be stopped, the server has a limit of its own.
        let wasCancelled = failure.code == "57014" && line.map { $0.cancellations > 0 } ?? false
        if wasCancelled { line?.cancellations -= 1 }
        let isOfOthers = wasCancelled || failure.code == "26000"
        if isOfOthers, read.repeats < Self.mostRepeats, read.continuation != nil, !read.deadline.hasPassed {
            read.repeats += 1
            pending.prepend(read)
        } else {
            answer(read, .failure(failure), &answers)
        }
    }

    private func answer(_ read: Read, _ result: Result<QueryResult, any Error>, _ answers: inout [Answer]) {
        guard let continuation = read.continuation else { return }
        read.continuation = nil
        answers.append((continuation, result))
    }

    // MARK: Deadlines

    /// Looks after the deadlines of all reads. Most come in the order in which they were asked, so that one look is
    /// enough.
    private func watch(until deadline: PostgresDeadline) {
        if let nextLook, nextLook <= deadline { return }
        nextLook = deadline
        _ = Watchdog.shared.watch(until: deadline) { [weak self] in self?.giveUpLateReads() }
    }

    private func giveUpLateReads() {
        var answers: [Answer] = []
        lock.lock()
        nextLook = nil
        let failure = PostgresFailure(.timedOut, "The server did not answer in time.")
        var isLate = false
        for slot in sent {
            guard case .read(let read) = slot, read.deadline.hasPassed, read.continuation != nil else { continue }
            answer(read, .failure(failure), &answers)
            isLate = true
        }
        for read in pending where read.deadline.hasPassed { answer(read, .failure(failure), &answers) }
        pending.removeAll { $0.continuation == nil }
        let isSilent = isLate || seemsDead
        if isSilent, let connection = line?.session.connection {
            // The others try again on another connection.
            ServerCancellation.send(for: connection)
            breakOff(PostgresFailure(.silent, "The server was silent for too long."), &answers)
        }
        let next = sent.lazy.compactMap { slot in
            if case .read(let read) = slot, !read.nextDeadline.hasPassed { read.nextDeadline } else { nil }
        }.min()
        if let next = [next, pending.lazy.map(\.nextDeadline).min()].compactMap({ $0 }).min() { watch(until: next) }
        lock.unlock()
        Self.tell(answers)
        if isSilent { pool.suspectConnections() }
    }

    /// Whether nothing was received since a read was sent that has waited long enough to tell.
    private var seemsDead: Bool {
        guard let line else { return false }
        return sent.contains { slot in
            guard case .read(let read) = slot else { return false }
            return read.seemsLost(afterReceipts: line.receipts)
        }
    }
}
#endif
