#if Postgres
import Bodega
import Foundation

extension StorageError {

    /// Converts the failure of an operation on a database server to a storage error.
    ///
    /// Cancellation and storage errors are returned unchanged.
    ///
    /// - Parameter outcome: A sentence on the outcome of the operation, appended to the message.
    static func postgres(_ error: any Error, key: CacheKey? = nil, _ outcome: String? = nil) -> any Error {
        if error is CancellationError || error is StorageError { return error }
        guard let failure = error as? PostgresFailure else {
            return StorageError(
                .inputOutput, "The operation on the database failed. See the cause.", key: key, cause: error)
        }
        let (code, message) = description(of: failure)
        return StorageError(code, outcome.map { "\(message) \($0)" } ?? message, key: key, cause: failure)
    }

    private static func description(of failure: PostgresFailure) -> (Code, String) {
        if failure.isWithoutTransactions { return (.cannotOpen, poolerMessage) }
        if failure.isPoolerFull { return (.timedOut, fullPoolerMessage) }
        return switch failure.kind {
        case .refused("42883") where failure.message.contains(PostgresFailure.sortKeyFunction):
            (.invalidArgument, "The database has no index of this kind. Create the index first.")
        case .refused(let code):
            description(ofState: code)
        case .connectionLost:
            (.unreachable, "The connection to the database was lost. Try again when the server is back.")
        case .cannotConnect:
            (.unreachable, "The database server can't be reached. Check the address, the network and the server.")
        case .timedOut, .silent:
            (.timedOut, "The database server did not answer in time.")
        case .poolExhausted:
            (.timedOut, "All connections stayed in use. Nothing was done; try again, or allow more connections.")
        case .closed:
            (.closed, "The database was closed. Open it again.")
        case .outOfStep:
            (
                .inputOutput,
                "The database server's results do not match the statements. Check for a proxy or pooler in between."
            )
        case .unexpectedAnswer:
            (.inputOutput, "The database server returned a malformed result. Report this as a bug, with the cause.")
        }
    }

    static let poolerMessage = """
        A connection pooler gives each transaction another session of the server. Use its session mode, or connect to \
        the server directly.
        """

    static let fullPoolerMessage = """
        The database server did not answer in time, through a connection pooler that may have fewer connections than \
        this program uses. Raise the pooler's size (PgBouncer: default_pool_size), or lower maximumConnections.
        """

    /// The code and message for an SQLSTATE, as listed in appendix A of PostgreSQL's manual.
    private static func description(ofState state: String) -> (Code, String) {
        switch state {
        case "40001", "40P01":
            (.locked, "Other writers kept changing the same items. Nothing was changed; try again.")
        case "55P03":
            (
                .locked,
                """
                Another session held a lock for longer than the user's lock_timeout, each time. Nothing was changed; \
                end that session and try again, or raise lock_timeout.
                """
            )
        // See `CollectionTable.number(ifExists:)`. No other column can be NULL.
        case "23502": (.placeRemoved, StorageError.collectionRemoved.message)
        case "57014":
            (
                .timedOut,
                "The server cancelled the operation, at a time limit or on request. Nothing was changed; try again."
            )
        case "57P01", "57P02", "57P03":
            (.unreachable, "The database server is starting or shutting down. Try again when it is back.")
        // A prepared statement has disappeared, or exists unexpectedly.
        case "26000", "42P05": (.cannotOpen, poolerMessage)
        case "57P04": (.cannotOpen, "The database was dropped. Create it again.")
        case "57P05", "25P03": (.unreachable, "The server ended the connection because it was idle. Try again.")
        case "53300":
            (
                .unreachable,
                "The database server has no connection left. Raise max_connections, or lower maximumConnections."
            )
        case "53100": (.storageFull, "The server's disk is full. Make room there and write again; nothing is lost.")
        case "25006": (.readOnly, "The server is a standby or read-only. Connect to the primary.")
        case "42501":
            (.permissionDenied, "The user lacks a privilege in the database. Grant it, or connect as another user.")
        case "3D000": (.cannotOpen, "The server has no such database. Create it first.")
        case "3F000": (.cannotOpen, "No schema of the search path exists in the database. Create one first.")
        case "42P01", "42703", "XX001", "XX002":
            (
                .damaged,
                """
                Tables are missing, altered or damaged. Nothing was changed. Check the search path, or restore a \
                backup.
                """
            )
        case "54000": (.tooLarge, "The key or value exceeds a limit of the database. Divide the item.")
        case _ where state.hasPrefix("08"):
            (.unreachable, "The connection to the database was lost. Try again when the server is back.")
        case _ where state.hasPrefix("28"):
            (.permissionDenied, "The server rejected the user. Check the name, the password and pg_hba.conf.")
        default: (.inputOutput, "The database rejected the operation. See the cause.")
        }
    }
}

extension PostgresFailure {
    /// The beginning of the name of the function that indexes are over.
    static let sortKeyFunction = "emporium_sort_key_"
}
#endif
