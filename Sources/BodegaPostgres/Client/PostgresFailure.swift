#if Postgres
import Foundation

/// The failure of an operation on a connection or on the pool of connections.
struct PostgresFailure: Error, Sendable, CustomStringConvertible {

    enum Kind: Sendable, Hashable {
        /// The server reported an error; the code is an SQLSTATE.
        case refused(code: String)
        /// The connection ended. The outcome of statements in progress is unknown.
        case connectionLost
        /// No connection could be established.
        case cannotConnect
        /// The server sent nothing until the deadline. The outcome of statements in progress is unknown.
        case timedOut
        /// A connection that had been idle received nothing for so long that it is considered dead, although the server
        /// may answer on another one. The outcome of statements in progress is unknown.
        case silent
        /// All connections stayed in use until the deadline. No statement was sent.
        case poolExhausted
        /// The database was closed. No statement was sent.
        case closed
        /// The server's results do not match the statements that were sent, so the connection can't be used any longer.
        /// The outcome of statements in progress is unknown.
        case outOfStep
        /// A result has missing or malformed values.
        case unexpectedAnswer
    }

    var kind: Kind
    var message: String
    /// The constraint that a statement violated, if the server named one.
    var constraint: String?
    /// Whether the connection goes through a pooler, which may have fewer connections to the server.
    var isPooled = false

    init(_ kind: Kind, _ message: String, constraint: String? = nil) {
        self.kind = kind
        self.message = message
        self.constraint = constraint
    }

    static let closed = PostgresFailure(.closed, "The database was closed.")
    static let noResult = PostgresFailure(.unexpectedAnswer, "The server returned no result for a statement.")

    var code: String? {
        if case .refused(let code) = kind { code } else { nil }
    }

    var description: String {
        if let code { "\(message) (SQLSTATE \(code))" } else { message }
    }
}

extension PostgresFailure {

    /// Whether concurrent transactions caused the failure, so that a retry may succeed.
    var isConflict: Bool {
        // serialization_failure, deadlock_detected, and lock_not_available, which a role's `lock_timeout` causes.
        // CockroachDB's statement_completion_unknown is another code.
        ["40001", "40P01", "55P03"].contains(code)
    }

    /// Whether a pooler has reported that it supports no transactions, as PgBouncer does in statement mode.
    var isWithoutTransactions: Bool { code != nil && message.contains("statement pooling mode") }

    /// Whether a pooler may have no connection to the server left, by its report or its silence.
    var isPoolerFull: Bool {
        isPooled && isSilence || code?.hasPrefix("08") == true && Self.poolerLimits.contains(where: message.contains)
    }

    /// What PgBouncer names when it gives a client up: settings of its own.
    private static let poolerLimits = ["query_wait_timeout", "max_client_conn"]

    /// Whether a retry on another connection may succeed, immediately or after a failover.
    var isOutage: Bool {
        if isWithoutTransactions { return false }
        return switch kind {
        case .connectionLost, .cannotConnect, .silent, .outOfStep: true
        case .refused(let code):
            // Too many connections; a standby, or a primary that became one.
            code.hasPrefix("08") || Self.endsSession(code) || ["53300", "25006"].contains(code)
        case .timedOut, .poolExhausted, .closed, .unexpectedAnswer: false
        }
    }

    /// Whether the server has no place for another connection.
    var isFull: Bool { code == "53300" }

    /// Whether the server sent nothing until a deadline.
    var isSilence: Bool { kind == .timedOut || kind == .silent }

    /// Whether the server is known to have rolled back the transaction.
    var isRolledBack: Bool { code != nil && (!endsConnection || code == "25006") }

    /// Whether the user lacks the right to write, or the server is read-only.
    var forbidsWriting: Bool { code == "42501" || code == "25006" }

    /// Whether the connection can't be used any longer.
    var endsConnection: Bool {
        switch kind {
        case .connectionLost, .cannotConnect, .timedOut, .silent, .outOfStep, .unexpectedAnswer, .closed: true
        case .refused(let code): code.hasPrefix("08") || Self.endsSession(code) || ["57P04", "25006"].contains(code)
        case .poolExhausted: false
        }
    }

    /// Whether the server ended the connection for a reason other than the statement: it is shutting down, has crashed
    /// or is starting up; the connection was idle for too long, also within a transaction; or the transaction took too
    /// long (25P04, since PostgreSQL 17). A dropped database, 57P04, is excluded, as a retry cannot succeed.
    private static func endsSession(_ code: String) -> Bool {
        code.hasPrefix("57P") && code != "57P04" || code == "25P03" || code == "25P04"
    }
}
#endif
