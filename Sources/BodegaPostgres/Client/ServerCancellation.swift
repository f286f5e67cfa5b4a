#if Postgres
import Bodega
import CPostgres
import Foundation

/// Tells servers to stop what a connection is doing.
enum ServerCancellation {

    /// How many may be under way to a server. libpq waits for it, and one that is paused holds a thread for each, but
    /// is in nobody else's way.
    private static let limit = 4
    private static let underway = Locked<[String: Int]>([:])

    /// Asks the server to stop the current statement of a connection. It returns at once; the connection may be gone
    /// before the server was asked.
    static func send(for connection: OpaquePointer) {
        let server = place(of: connection)
        let mayGo = underway.withLock { counts in
            guard counts[server, default: 0] < limit else { return false }
            counts[server, default: 0] += 1
            return true
        }
        guard mayGo else { return }
        guard let request = PQgetCancel(connection) else { return end(server) }
        // Nothing else uses it.
        nonisolated(unsafe) let handedOver = request
        Thread.detachNewThread {
            var message = [CChar](repeating: 0, count: 256)
            // When it fails, the statement goes on until it ends or its time is over.
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
