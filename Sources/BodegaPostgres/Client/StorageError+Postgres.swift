#if Postgres
import Bodega
import Foundation

extension StorageError {

    /// Says in a storage error what an operation on a database server failed with.
    ///
    /// Cancellation and storage errors stay what they are.
    ///
    /// - Parameter outcome: A sentence on what became of the operation.
    static func postgres(_ error: any Error, key: CacheKey? = nil, _ outcome: String? = nil) -> any Error {
        if error is CancellationError || error is StorageError { return error }
        guard let failure = error as? PostgresFailure else {
            return StorageError(.inputOutput, "The database could not be used.", key: key, cause: error)
        }
        let (code, message) = description(of: failure)
        return StorageError(code, outcome.map { "\(message) \($0)" } ?? message, key: key, cause: failure)
    }

    private static func description(of failure: PostgresFailure) -> (Code, String) {
        switch failure.kind {
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
            (.cannotOpen, "The database was closed. Open it anew.")
        case .unexpectedAnswer:
            (.inputOutput, "The database server answered what makes no sense.")
        }
    }

    static let poolerMessage = """
        A connection pooler gives each transaction another session of the server. Use its session mode, or connect to the \
        server itself.
        """

    /// By class and code as in appendix A of PostgreSQL's manual.
    private static func description(ofState state: String) -> (Code, String) {
        switch state {
        case "40001", "40P01", "55P03":
            return (.locked, "Others kept changing the same items. Nothing was changed; try again.")
        case "57014":
            return (.timedOut, "The server gave up the operation because it took too long. Nothing was changed.")
        case "57P01", "57P02", "57P03":
            return (.unreachable, "The database server is starting or shutting down. Try again when it is back.")
        case "26000", "42P05":
            // A prepared statement that was there is gone, or one that was not there is there.
            return (.cannotOpen, poolerMessage)
        case "57P04":
            return (.cannotOpen, "The database was dropped. Create it anew.")
        case "57P05", "25P03":
            return (.unreachable, "The server ended the connection because it was idle. Try again.")
        case "53300":
            return (.unreachable, "The database server has no connection left. Allow more there, or fewer here.")
        case "53100":
            return (.storageFull, "The server's disk is full. Make room there and write again; nothing is lost.")
        case "25006":
            return (.readOnly, "The server is a standby or allows no writing. Connect to the primary.")
        case "42501":
            return (.permissionDenied, "The user is not allowed to do this in the database. Check its privileges.")
        case "3D000":
            return (.cannotOpen, "The server has no such database. Create it first.")
        case "3F000":
            return (.cannotOpen, "No schema of the search path exists in the database. Create it first.")
        case "42P01", "42703", "XX001", "XX002":
            return (.damaged, "The tables in the database are missing, changed or damaged. Nothing was changed.")
        case "54000":
            return (.tooLarge, "The key or value is larger than the database can hold.")
        default:
            break
        }
        switch state.prefix(2) {
        case "08": return (.unreachable, "The connection to the database was lost. Try again when the server is back.")
        case "28":
            return (.permissionDenied, "The server refused the user. Check the name, the password and its rules.")
        default: return (.inputOutput, "The database refused the operation.")
        }
    }
}
#endif
