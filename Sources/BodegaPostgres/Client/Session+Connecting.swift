#if Postgres
import CPostgres
import Dispatch
import Foundation

extension Session {

    /// Connects to the first host that accepts the connection.
    ///
    /// libpq can try several hosts by itself, but would never get past one that accepts connections and stays silent.
    /// Here, each host gets an equal share of the remaining time.
    ///
    /// - Parameters:
    ///   - preferred: The host to try first, because the last connection was made to it.
    ///   - timeout: The maximum time for each host, in seconds.
    ///   - deadline: The deadline for all hosts.
    static func connect(
        to target: ConnectionTarget,
        preferring preferred: ConnectionTarget.Host?,
        timeout: TimeInterval,
        until deadline: PostgresDeadline,
        patience: TimeInterval
    ) async throws -> Session {
        let hosts = target.hosts.filter { $0 == preferred } + target.hosts.filter { $0 != preferred }
        var failures: [PostgresFailure] = []
        for (number, host) in hosts.enumerated() {
            let share = deadline.remaining / Double(hosts.count - number)
            do {
                return try await connect(to: host, target, until: min(deadline, .after(min(timeout, share))), patience)
            } catch let failure as PostgresFailure {
                failures.append(failure)
                if deadline.hasPassed { break }
            }
        }
        // The rejection of a user is more informative than a server that cannot be reached.
        let failure = failures.first { !$0.isOutage && $0.code != nil } ?? failures.first
        throw failure ?? PostgresFailure(.cannotConnect, "The time limit passed before a connection was attempted.")
    }

    private static func connect(
        to host: ConnectionTarget.Host, _ target: ConnectionTarget, until deadline: PostgresDeadline,
        _ patience: TimeInterval
    ) async throws -> Session {
        let connection = try await start(target.settings(for: host))
        do {
            try await finishConnecting(connection, target, until: deadline)
        } catch {
            PQfinish(connection)
            throw error
        }
        _ = PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        return try Session(connection, host: host, patience: patience)
    }

    private static func finishConnecting(
        _ connection: OpaquePointer, _ target: ConnectionTarget, until deadline: PostgresDeadline
    ) async throws {
        // Error messages then contain the SQLSTATE.
        _ = PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        var status = PQstatus(connection) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            if status == PGRES_POLLING_FAILED { throw PostgresFailure.notConnected(connection, hiding: target.secrets) }
            // Each step may use another socket.
            let watch = try SocketWatch(socket: PQsocket(connection))
            let mustWrite = status == PGRES_POLLING_WRITING
            switch await watch.wait(toRead: !mustWrite, toWrite: mustWrite, until: deadline, heedsCancellation: true) {
            case .ready: status = PQconnectPoll(connection)
            case .timedOut: throw PostgresFailure(.cannotConnect, "The server did not accept the connection in time.")
            case .cancelled: throw CancellationError()
            }
        }
    }

    /// Begins to connect, on another thread, because resolving a host's name blocks.
    private static func start(_ settings: [(keyword: String, value: String)]) async throws -> OpaquePointer {
        try await withUnsafeThrowingContinuation { continuation in
            startingQueue.async {
                let connection = withSettings(settings) { PQconnectStartParams($0, $1, 1) }
                if let connection {
                    continuation.resume(returning: connection)
                } else {
                    continuation.resume(throwing: PostgresFailure(.cannotConnect, "libpq could not allocate memory."))
                }
            }
        }
    }

    private static let startingQueue = DispatchQueue(label: "emporium.postgres.connect", attributes: .concurrent)
}
#endif
