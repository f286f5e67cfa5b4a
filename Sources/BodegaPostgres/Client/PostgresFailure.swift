#if Postgres
import Foundation

/// Why something that a connection was asked for was not done.
struct PostgresFailure: Error, Sendable, CustomStringConvertible {

    enum Kind: Sendable, Hashable {
        /// The server said no; the code is an SQLSTATE.
        case refused(code: String)
        /// The connection ended. What was under way may have been done or not.
        case connectionLost
        /// No connection could be made.
        case cannotConnect
        /// The server was silent for too long. What was under way may have been done or not.
        case timedOut
        /// A connection that had been idle before was silent for so long that it seems to be dead, though the server may
        /// answer on another one. What was under way may have been done or not.
        case silent
        /// All connections were in use for too long. Nothing was done.
        case poolExhausted
        /// The database was closed. Nothing was done.
        case closed
        /// The server answered what makes no sense.
        case unexpectedAnswer
    }

    var kind: Kind
    var message: String
    /// The constraint that a statement went against, if it was one.
    var constraint: String?

    init(_ kind: Kind, _ message: String, constraint: String? = nil) {
        self.kind = kind
        self.message = message
        self.constraint = constraint
    }

    var code: String? {
        if case .refused(let code) = kind { code } else { nil }
    }

    var description: String {
        if let code { "\(message) (SQLSTATE \(code))" } else { message }
    }
}

extension PostgresFailure {

    /// Whether trying again may succeed because the failure came from others working at the same time.
    var isConflict: Bool {
        // serialization_failure, deadlock_detected, and CockroachDB's statement_completion_unknown is not among them.
        code == "40001" || code == "40P01"
    }

    /// Whether trying again on another connection may succeed, soon or after a failover.
    var isOutage: Bool {
        switch kind {
        case .connectionLost, .cannotConnect, .silent: true
        case .refused(let code):
            // Too many connections; a standby or a primary that became one.
            code.hasPrefix("08") || Self.endsSession(code) || ["53300", "25006"].contains(code)
        case .timedOut, .poolExhausted, .closed, .unexpectedAnswer: false
        }
    }

    /// Whether the server, or the network, said nothing for too long.
    var isSilence: Bool { kind == .timedOut || kind == .silent }

    /// Whether the connection can't be used any more.
    var endsConnection: Bool {
        switch kind {
        case .connectionLost, .cannotConnect, .timedOut, .silent, .unexpectedAnswer, .closed: true
        case .refused(let code): code.hasPrefix("08") || Self.endsSession(code) || ["57P04", "25006"].contains(code)
        case .poolExhausted: false
        }
    }

    /// Whether the server ended the connection for a reason that has nothing to do with what it was asked: it shuts
    /// down, has crashed or starts up, the connection was idle for too long, also within a transaction, or the transaction
    /// took too long (25P04, since PostgreSQL 17). That the database was dropped, 57P04, is no reason to come back.
    private static func endsSession(_ code: String) -> Bool {
        code.hasPrefix("57P") && code != "57P04" || code == "25P03" || code == "25P04"
    }
}
#endif
