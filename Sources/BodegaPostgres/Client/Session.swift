#if Postgres
import Bodega
import CPostgres
import Foundation

/// A connection to a server, used by one task at a time.
///
/// No call into libpq blocks; where something is to be waited for, the task is suspended.
///
/// @unchecked because the pool lends it to one task at a time.
final class Session: @unchecked Sendable {

    let connection: OpaquePointer
    let host: ConnectionTarget.Host
    private let watch: SocketWatch
    /// The names of the statements that the server knows.
    private var prepared: Set<String> = []
    private var hasFailed = false
    /// Whether the server has said something since the connection was lent, or made.
    private var isProven = true
    private let notices = SessionNotices()

    /// Takes over a connection that is ready.
    init(_ connection: OpaquePointer, host: ConnectionTarget.Host) throws {
        self.connection = connection
        self.host = host
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
        // What has not been sent yet is not to reach the server after its write was given up.
        if hasFailed { SocketWatch.discardOutput(of: PQsocket(connection)) }
        PQfinish(connection)
    }

    /// A server process.
    struct Backend: Sendable {
        let host: ConnectionTarget.Host
        let process: Int32
    }

    /// The process on the server's side.
    var backend: Backend { Backend(host: host, process: PQbackendPID(connection)) }

    /// Makes the connection prove that it is alive: until the server's next word, it may be silent for half as long. Then
    /// it is taken for dead, which leaves time for another one.
    func demandProof() { isProven = false }

    /// Whether statements can be sent, as far as is known without asking the server.
    var isUsable: Bool {
        // What an idle connection has to read is its end.
        !hasFailed && PQconsumeInput(connection) == 1 && PQstatus(connection) == CONNECTION_OK
    }

    /// Whether a transaction has been begun and not ended.
    var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

    // MARK: Statements

    /// Runs statements in one go, all in one transaction unless they begin and end their own.
    ///
    /// - Parameters:
    ///   - commands: The statements, made as there is room for them.
    ///   - patience: How long the server may be silent, in seconds.
    /// - Returns: The results, one a statement.
    /// - Throws: A ``PostgresFailure``, or `CancellationError` if the server was told to stop because the task was
    ///   cancelled. A transaction that was begun is still open then, or may have been committed.
    func run(_ commands: some Sequence<Command>, patience: TimeInterval) async throws -> [QueryResult] {
        var answers = PipelineAnswers()
        var pace = Pace(patience: patience)
        for command in commands {
            try checkCancellation(pace)
            try send(command, &answers)
            // Sent as they are made, so as not to hold a whole bulk write in memory.
            try await exchange(&answers, &pace, untilAnswered: false)
        }
        guard PQpipelineSync(connection) == 1 else { throw lost() }
        answers.expect(.sync)
        try await exchange(&answers, &pace, untilAnswered: true)
        guard let failure = answers.failure else {
            // The server was told to stop, and has, or has only stopped to wait until the transaction was safe.
            if pace.wasCancelled { throw CancellationError() }
            if notices.tellUnsafeCommit() { throw lost(Self.isUnsafe) }
            return answers.results
        }
        if pace.wasCancelled, failure.code == "57014" { throw CancellationError() }
        if failure.endsConnection { hasFailed = true }
        throw failure
    }

    /// Runs a statement, see ``run(_:patience:)``.
    func run(_ command: Command, patience: TimeInterval) async throws -> QueryResult {
        guard let result = try await run(CollectionOfOne(command), patience: patience).first else {
            throw PostgresFailure(.unexpectedAnswer, "A statement has no result.")
        }
        return result
    }

    private func send(_ command: Command, _ answers: inout PipelineAnswers) throws {
        if let name = command.statement.name, !prepared.contains(name) {
            guard PQsendPrepare(connection, name, command.statement.sql, 0, nil) == 1 else { throw lost() }
            prepared.insert(name)
            answers.expect(.preparation(name))
        }
        guard command.send(on: connection) else { throw lost() }
        answers.expect(.rows)
    }

    /// Sends what is to be sent, and takes the answers that are there, or all of them.
    private func exchange(
        _ answers: inout PipelineAnswers,
        _ pace: inout Pace,
        untilAnswered: Bool
    ) async throws {
        while true {
            let unsent = PQflush(connection)
            guard unsent >= 0 else { throw lost(answers.failure) }
            // With something unsent, libpq would wait for room before it hands out a result.
            if unsent == 0 {
                answers.take(from: connection, forgetting: &prepared)
                if !untilAnswered || answers.isComplete { return }
            }
            try await wait(toWrite: unsent == 1, &pace)
            if PQconsumeInput(connection) == 0 {
                // The server may have said why before it went.
                answers.take(from: connection, forgetting: &prepared)
                throw lost(answers.failure)
            }
        }
    }

    // MARK: Copying

    /// Sends rows in the binary format of `COPY`.
    ///
    /// - Parameters:
    ///   - sql: A `COPY … FROM STDIN`.
    ///   - parts: The stream in parts, made as there is room for them.
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

    /// Receives rows in the binary format of `COPY`.
    ///
    /// - Parameters:
    ///   - sql: A `COPY … TO STDOUT`.
    ///   - take: Gets the stream in parts, which are gone when it returns.
    func copy(_ sql: String, patience: TimeInterval, to take: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var pace = Pace(patience: patience)
        try await begin(sql, PGRES_COPY_OUT, &pace)
        while true {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(connection, &row, 1)
            if count > 0 {
                defer { PQfreemem(row) }
                do {
                    try take(UnsafeRawBufferPointer(start: row, count: Int(count)))
                } catch {
                    // The rest of the stream is still to come.
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
    }

    /// Leaves pipeline mode, which knows no `COPY`, and begins one.
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
            // The server may have something to say and wait for it to be taken.
            if PQconsumeInput(connection) == 0 { throw lost() }
        }
    }

    /// Takes the results that are left, and goes back to pipeline mode.
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

    /// Waits for the socket. When the task is cancelled meanwhile, the server is told, once, and has some time to stop.
    private func wait(toWrite: Bool, _ pace: inout Pace) async throws {
        let deadline = isProven ? pace.deadline : min(pace.deadline, pace.deadlineForProof)
        let outcome = await watch.wait(toWrite: toWrite, until: deadline, heedsCancellation: !pace.wasCancelled)
        switch outcome {
        case .ready:
            pace.goOn()
            if !toWrite { isProven = true }
        case .cancelled:
            pace.cancel()
            // What is to stop this statement may arrive late and stop the next one, so there will be none.
            hasFailed = true
            ServerCancellation.send(for: connection)
        case .timedOut:
            hasFailed = true
            ServerCancellation.send(for: connection)
            if pace.wasCancelled { throw CancellationError() }
            throw isProven
                ? PostgresFailure(.timedOut, "The server was silent for \(pace.patience) seconds.")
                : PostgresFailure(.silent, "The connection was silent for \(pace.patience / 2) seconds.")
        }
    }

    /// Waits for notifications, or the end of the connection.
    ///
    /// - Returns: The numbers in those that came; empty if none came before the deadline.
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

    /// Ends what has been sent in part when the task is cancelled, unless the server has been told already and is to
    /// answer.
    private func checkCancellation(_ pace: Pace) throws {
        guard Task.isCancelled, !pace.wasCancelled else { return }
        hasFailed = true
        throw CancellationError()
    }

    private static var isUnsafe: PostgresFailure {
        PostgresFailure(.connectionLost, "The server stopped waiting for its standby, which may lack what was written.")
    }

    private func lost(_ reason: PostgresFailure? = nil) -> PostgresFailure {
        hasFailed = true
        return reason ?? .lost(connection)
    }
}

/// How long a server may be silent.
private struct Pace {
    let patience: TimeInterval
    private(set) var deadline: PostgresDeadline
    private(set) var deadlineForProof: PostgresDeadline
    private(set) var wasCancelled = false

    /// How long a server has to stop after it was told to, in seconds.
    private static let timeToStop: TimeInterval = 5

    init(patience: TimeInterval) {
        self.patience = patience
        deadline = .after(patience)
        deadlineForProof = .after(patience / 2)
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
