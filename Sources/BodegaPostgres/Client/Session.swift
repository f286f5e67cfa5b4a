#if Postgres
import Bodega
import CPostgres
import Foundation

/// A connection to a server, used by one task at a time.
///
/// The connection is in libpq's non-blocking pipeline mode. A batch of statements goes through this cycle:
///
/// 1. `run` queues the statements and a sync in libpq, through a `Pipeline`.
/// 2. `exchange` flushes the output and takes the results that have arrived from the `Pipeline`.
/// 3. While output is unsent or results are missing, `wait` suspends the task until the socket is ready. If the task is
///    cancelled, it sends one cancellation request to the server and waits for up to `Pace.timeToStop`.
/// 4. At the deadline, `wait` sends a cancellation request and throws. The session is then unusable.
///
/// No lock guards the state: `SessionPool` lends a session to one task at a time.
///
/// @unchecked because only the task that holds the session accesses it.
final class Session: @unchecked Sendable {

    let connection: OpaquePointer
    let host: ConnectionTarget.Host
    /// How long the server may be silent, in seconds, unless a call says otherwise.
    let patience: TimeInterval
    private let watch: SocketWatch
    private var pipeline = Pipeline<Void>()
    private let connected = PostgresDeadline.after(0)
    private var hasFailed = false
    /// Whether the server has sent something since the session was lent or connected.
    private var isProven = true
    private let notices = SessionNotices()

    /// Takes ownership of an established connection.
    init(_ connection: OpaquePointer, host: ConnectionTarget.Host, patience: TimeInterval) throws {
        self.connection = connection
        self.host = host
        self.patience = patience
        do {
            watch = try SocketWatch(socket: PQsocket(connection))
        } catch {
            PQfinish(connection)
            throw error
        }
        guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else {
            throw PostgresFailure.lost(connection)
        }
        notices.receive(from: connection)
    }

    deinit {
        // Unsent output must not reach the server after the caller has given up the write.
        if hasFailed { SocketSources.discardOutput(of: PQsocket(connection)) }
        PQfinish(connection)
    }

    /// A server process.
    struct Backend: Sendable {
        let host: ConnectionTarget.Host
        let process: Int32
        /// When the connection was established; the process started before.
        let connected: PostgresDeadline
    }

    /// The server process of this session.
    var backend: Backend { Backend(host: host, process: PQbackendPID(connection), connected: connected) }

    /// Halves the time limit until the server has sent something. A connection that was idle may be dead; the other
    /// half is left for a new connection.
    func demandProof() { isProven = false }

    /// Whether statements can be sent, as far as the client knows without a round trip.
    var isUsable: Bool {
        // The only input of an idle connection is its end.
        !hasFailed && PQconsumeInput(connection) == 1 && PQstatus(connection) == CONNECTION_OK
    }

    /// Whether the session holds the transaction of a ``PostgresMoment``. A task that is cancelled waits for its
    /// statements then, because stopping them would end the session.
    var isAtMoment = false

    /// Makes the session unusable.
    func retire() { hasFailed = true }

    /// Whether a transaction is open.
    var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

    // MARK: Statements

    /// Runs statements as one pipelined batch, in one transaction unless they begin and end their own.
    ///
    /// - Parameters:
    ///   - commands: The statements, generated as they are sent.
    ///   - patience: How long the server may be silent, in seconds; `nil` for the ``patience`` of the session.
    /// - Returns: One result for each statement.
    /// - Throws: A ``PostgresFailure``, or `CancellationError` if the task was cancelled and the server was asked to
    ///   stop. A transaction that the statements began may then be open or committed.
    @discardableResult
    func run(_ commands: some Sequence<Command>, patience: TimeInterval? = nil) async throws -> [QueryResult] {
        var answers = Answers()
        var pace = Pace(patience: patience ?? self.patience)
        var count = 0
        for command in commands {
            count += 1
            try checkCancellation(pace)
            guard pipeline.send(command, as: (), on: connection) else { throw lost() }
            // Sent as they are generated, so that a bulk write is not held in memory as a whole.
            try await exchange(&answers, &pace, untilAnswered: false)
        }
        guard pipeline.sync(on: connection) else { throw lost() }
        try await exchange(&answers, &pace, untilAnswered: true)
        guard let failure = answers.failure else {
            // The server has completed the statements, or has only stopped waiting for a standby.
            if pace.wasCancelled { throw CancellationError() }
            if notices.takeUnsafeCommit() { throw lost(Self.isUnsafe) }
            guard answers.results.count == count else { throw lost(.noResult) }
            return answers.results
        }
        if pace.wasCancelled, failure.code == "57014" { throw CancellationError() }
        if failure.endsConnection { hasFailed = true }
        throw failure
    }

    /// Runs a statement, see ``run(_:patience:)``.
    @discardableResult
    func run(_ command: Command, patience: TimeInterval? = nil) async throws -> QueryResult {
        try await run(CollectionOfOne(command), patience: patience)[0]
    }

    /// Flushes the output and takes the results that have arrived, or all results.
    private func exchange(_ answers: inout Answers, _ pace: inout Pace, untilAnswered: Bool) async throws {
        while true {
            let unsent = PQflush(connection)
            guard unsent >= 0 else { throw lost(answers.failure) }
            // While output is unsent, PQgetResult would block until there is room for it.
            if unsent == 0 {
                take(&answers)
                if !untilAnswered || pipeline.slots.isEmpty || answers.isOutOfStep { return }
            }
            try await wait(toWrite: unsent == 1, &pace)
            if PQconsumeInput(connection) == 0 {
                // The server may have sent the reason before it closed the connection.
                take(&answers)
                throw lost(answers.failure)
            }
        }
    }

    /// Takes the results that have arrived.
    private func take(_ answers: inout Answers) {
        while !answers.isOutOfStep, let event = pipeline.next(from: connection) {
            switch event {
            case .result(_, let result): answers.results.append(result)
            case .failure(let failure, _): answers.failure = answers.failure ?? failure
            case .synced: break
            case .violation(let failure): (answers.failure, answers.isOutOfStep) = (failure, true)
            }
        }
    }

    /// The results of a batch.
    private struct Answers {
        var results: [QueryResult] = []
        /// The failure of the first statement that failed. The server skipped the statements after it.
        var failure: PostgresFailure?
        var isOutOfStep = false
    }

    // MARK: Copying

    /// Sends rows in the binary format of `COPY … FROM STDIN`, in parts that are generated as they are sent.
    func copy(_ sql: String, from parts: some Sequence<[UInt8]>, patience: TimeInterval) async throws {
        var pace = Pace(patience: patience)
        try await begin(sql, PGRES_COPY_IN, &pace)
        for part in parts {
            try checkCancellation(pace)
            try await put(&pace) {
                part.withUnsafeBytes { bytes in
                    PQputCopyData(
                        connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
                }
            }
        }
        try await put(&pace) { PQputCopyEnd(connection, nil) }
        try await endSimple(&pace)
    }

    /// Receives rows in the binary format of `COPY … TO STDOUT`.
    ///
    /// - Parameter take: Receives the stream in parts. A part is valid until the closure returns.
    func copy(_ sql: String, to take: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var pace = Pace(patience: patience)
        var failure: (any Error)?
        try await begin(sql, PGRES_COPY_OUT, &pace)
        while true {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(connection, &row, 1)
            if count > 0 {
                defer { PQfreemem(row) }
                if failure != nil { continue }
                do {
                    try take(UnsafeRawBufferPointer(start: row, count: Int(count)))
                } catch {
                    // The connection would still receive the rest of the stream, which only a moment waits for.
                    failure = error
                    if isAtMoment { continue }
                    hasFailed = true
                    throw error
                }
            } else if count == 0 {
                try await wait(toWrite: false, &pace)
                if PQconsumeInput(connection) == 0 { throw lost() }
            } else {
                break
            }
        }
        try await endSimple(&pace)
        if let failure { throw failure }
    }

    /// Leaves pipeline mode, which does not support `COPY`, and begins a `COPY`.
    private func begin(_ sql: String, _ expected: ExecStatusType, _ pace: inout Pace) async throws {
        guard PQexitPipelineMode(connection) == 1, PQsendQuery(connection, sql) == 1 else { throw lost() }
        guard let result = try await nextResult(&pace) else { throw lost() }
        defer { PQclear(result) }
        if PQresultStatus(result) == expected { return }
        let failure = PostgresFailure.refused(result)
        try await endSimple(&pace)
        throw failure
    }

    private func put(_ pace: inout Pace, _ put: () -> Int32) async throws {
        while true {
            let result = put()
            if result < 0 { throw lost() }
            if result > 0 { break }
            try await wait(toWrite: true, &pace)
        }
        while true {
            let unsent = PQflush(connection)
            if unsent == 0 { return }
            guard unsent > 0 else { throw lost() }
            try await wait(toWrite: true, &pace)
            // The server may be blocked until the client reads its output.
            if PQconsumeInput(connection) == 0 { throw lost() }
        }
    }

    /// Takes the remaining results and returns to pipeline mode.
    private func endSimple(_ pace: inout Pace) async throws {
        var failure: PostgresFailure?
        while let result = try await nextResult(&pace) {
            defer { PQclear(result) }
            if PQresultStatus(result) == PGRES_FATAL_ERROR, failure == nil { failure = .refused(result) }
        }
        guard PQenterPipelineMode(connection) == 1 else { throw lost(failure) }
        guard let failure else { return }
        if pace.wasCancelled, failure.code == "57014" { throw CancellationError() }
        if failure.endsConnection { hasFailed = true }
        throw failure
    }

    private func nextResult(_ pace: inout Pace) async throws -> OpaquePointer? {
        while true {
            let unsent = PQflush(connection)
            guard unsent >= 0 else { throw lost() }
            if unsent == 0, PQisBusy(connection) == 0 { return PQgetResult(connection) }
            try await wait(toWrite: unsent == 1, &pace)
            if PQconsumeInput(connection) == 0, PQisBusy(connection) == 1 { throw lost() }
        }
    }

    // MARK: Waiting

    /// Waits for the socket. If the task is cancelled in the meantime, the server is asked to stop, once.
    private func wait(toWrite: Bool, _ pace: inout Pace) async throws {
        let deadline = isProven ? pace.deadline : min(pace.deadline, pace.deadlineForProof)
        let outcome = await watch.wait(
            toWrite: toWrite, until: deadline, heedsCancellation: !pace.wasCancelled && !isAtMoment)
        switch outcome {
        case .ready:
            pace.goOn()
            if !toWrite { isProven = true }
        case .cancelled:
            pace.cancel()
            // The cancellation request may arrive late and stop the next statement, so the session is not used again.
            hasFailed = true
            ServerCancellation.send(for: connection)
        case .timedOut:
            hasFailed = true
            ServerCancellation.send(for: connection)
            if pace.wasCancelled { throw CancellationError() }
            throw isProven
                ? PostgresFailure(.timedOut, "The server sent nothing for \(pace.patience) seconds.")
                : PostgresFailure(.silent, "An idle connection received nothing for \(pace.patience / 2) seconds.")
        }
    }

    /// Waits for notifications.
    ///
    /// - Returns: The numbers in the notifications; empty if none arrived before the deadline.
    /// - Throws: A ``PostgresFailure`` if the connection ends, or `CancellationError`.
    func waitForNotifications(until deadline: PostgresDeadline) async throws -> Set<Int32> {
        var numbers: Set<Int32> = []
        while true {
            guard PQconsumeInput(connection) == 1 else { throw lost() }
            while let notification = PQnotifies(connection) {
                if let number = notification.pointee.extra.flatMap({ Int32(String(cString: $0)) }) {
                    numbers.insert(number)
                }
                PQfreemem(notification)
            }
            if !numbers.isEmpty { return numbers }
            switch await watch.wait(toWrite: false, until: deadline, heedsCancellation: true) {
            case .ready: continue
            case .timedOut: return []
            case .cancelled: throw CancellationError()
            }
        }
    }

    /// Stops sending a batch if the task was cancelled, unless the server has already been asked to stop.
    private func checkCancellation(_ pace: Pace) throws {
        guard Task.isCancelled, !pace.wasCancelled, !isAtMoment else { return }
        hasFailed = true
        throw CancellationError()
    }

    private static var isUnsafe: PostgresFailure {
        PostgresFailure(
            .connectionLost, "The server committed without waiting for its standby, which may lack the transaction.")
    }

    private func lost(_ reason: PostgresFailure? = nil) -> PostgresFailure {
        hasFailed = true
        return reason ?? .lost(connection)
    }
}

/// The time limits of an operation, extended whenever the socket is ready.
private struct Pace {
    let patience: TimeInterval
    private(set) var deadline = PostgresDeadline.after(0)
    private(set) var deadlineForProof = PostgresDeadline.after(0)
    private(set) var wasCancelled = false

    /// How long the server may take to stop after a cancellation request, in seconds.
    private static let timeToStop: TimeInterval = 5

    init(patience: TimeInterval) {
        self.patience = patience
        goOn()
    }

    mutating func goOn() {
        if wasCancelled { return }
        deadline = .after(patience)
        deadlineForProof = .after(patience / 2)
    }

    mutating func cancel() {
        wasCancelled = true
        deadline = .after(min(patience, Self.timeToStop))
    }
}
#endif
