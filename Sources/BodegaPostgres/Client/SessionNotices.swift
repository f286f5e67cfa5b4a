#if Postgres
import CPostgres

/// What a server mentions beside its answers.
///
/// @unchecked because it is only reached by the task that the session is lent to, from calls of libpq.
final class SessionNotices: @unchecked Sendable {

    private var hasUnsafeCommit = false

    /// Takes a connection's notices, which would be printed otherwise. It must stay as long as the connection.
    func receive(from connection: OpaquePointer) {
        let receiver: PQnoticeReceiver = { place, result in
            guard let place, let result else { return }
            Unmanaged<SessionNotices>.fromOpaque(place).takeUnretainedValue().take(result)
        }
        _ = PQsetNoticeReceiver(connection, receiver, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Whether a transaction was committed since this was last asked, but the server, told to stop, didn't wait for its
    /// standby. It says so only here: to the transaction, the server answers that it was committed.
    func tellUnsafeCommit() -> Bool {
        defer { hasUnsafeCommit = false }
        return hasUnsafeCommit
    }

    private func take(_ notice: OpaquePointer) {
        // The text depends on the server's language, and its SQLSTATE is that of any warning.
        guard let code = Character("R").asciiValue, let function = PQresultErrorField(notice, Int32(code)) else {
            return
        }
        if String(cString: function) == "SyncRepWaitForLSN" { hasUnsafeCommit = true }
    }
}
#endif
