#if Postgres
import Bodega
import CPostgres
import Foundation

/// Cancels the statements of connections on their servers.
enum ServerCancellation {

    /// The maximum number of concurrent requests to one server. libpq sends them synchronously: a paused server blocks
    /// a thread for each, but does not delay requests to other servers.
    private static let limit = 4
    private static let underway = Locked<[String: Int]>([:])

    /// Asks the server to cancel the current statement of a connection.
    ///
    /// The request is sent on another thread, and may be sent after the connection was closed.
    static func send(for connection: OpaquePointer) {
        let server = place(of: connection)
        let mayGo = underway.withLock { counts in
            guard counts[server, default: 0] < limit else { return false }
            counts[server, default: 0] += 1
            return true
        }
        guard mayGo else { return }
        guard let request = PQgetCancel(connection) else { return end(server) }
        // Only the new thread uses the request.
        nonisolated(unsafe) let handedOver = request
        Thread.detachNewThread {
            var message = [CChar](repeating: 0, count: 256)
            // If this fails, the statement runs until it ends or reaches its time limit.
            _ = PQcancel(handedOver, &message, Int32(message.count))
            PQfreeCancel(handedOver)
            end(server)
        }
    }

    private static func end(_ server: String) {
        underway.withLock { counts in
            counts[server] = counts[server].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }

    private static func place(of connection: OpaquePointer) -> String {
        [PQhost(connection), PQhostaddr(connection), PQport(connection)]
            .map { text in text.map { String(cString: $0) } ?? "" }.joined(separator: "\n")
    }
}
#endif
