#if Postgres
import Bodega
import CPostgres
import Dispatch

/// Tells servers to stop what a connection is doing.
enum ServerCancellation {

    /// How many may be under way. libpq waits for the server, and one that is paused would hold a thread each.
    private static let limit = 8
    private static let underway = Locked(0)
    private static let queue = DispatchQueue(label: "emporium.postgres.cancellation", attributes: .concurrent)

    /// Asks the server to stop the current statement of a connection. It returns at once; the connection may be gone
    /// before the server was asked.
    static func send(for connection: OpaquePointer) {
        let mayGo = underway.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard mayGo else { return }
        guard let request = PQgetCancel(connection) else {
            underway.withLock { $0 -= 1 }
            return
        }
        // Nothing else uses it.
        nonisolated(unsafe) let handedOver = request
        queue.async {
            var message = [CChar](repeating: 0, count: 256)
            // When it fails, the statement goes on until it ends or its time is over.
            _ = PQcancel(handedOver, &message, Int32(message.count))
            PQfreeCancel(handedOver)
            underway.withLock { $0 -= 1 }
        }
    }
}
#endif
