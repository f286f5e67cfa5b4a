#if Postgres
import CPostgres

/// Receives the notices that a server sends on a connection.
///
/// @unchecked because libpq calls it only from the task that holds the session.
final class SessionNotices: @unchecked Sendable {

    private var hasUnsafeCommit = false

    /// Registers to receive a connection's notices, which libpq otherwise prints. It must outlive the connection.
    func receive(from connection: OpaquePointer) {
        let receiver: PQnoticeReceiver = { place, result in
            guard let place, let result else { return }
            Unmanaged<SessionNotices>.fromOpaque(place).takeUnretainedValue().take(result)
        }
        _ = PQsetNoticeReceiver(connection, receiver, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns whether a transaction was committed since the last call without waiting for the standby, because the
    /// wait was cancelled. The server reports that only in a notice; its result says that it was committed.
    func takeUnsafeCommit() -> Bool {
        defer { hasUnsafeCommit = false }
        return hasUnsafeCommit
    }

    private func take(_ notice: OpaquePointer) {
        // The text depends on the server's language, and the SQLSTATE is the one of all warnings.
        guard let code = Character("R").asciiValue, let function = PQresultErrorField(notice, Int32(code)) else {
            return
        }
        if String(cString: function) == "SyncRepWaitForLSN" { hasUnsafeCommit = true }
    }
}
#endif
