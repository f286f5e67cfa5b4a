#if Server
import Bodega
import NIOCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The open connections of a server.
final class ConnectionCount: Sendable {
    /// The maximum.
    let maximum: Int

    private let open = Locked(0)

    init(maximum: Int) {
        let files = Self.openFiles
        self.maximum = max(1, min(maximum, files > 256 ? files - 128 : files / 2))
    }

    /// The number of open connections.
    var count: Int { open.withLock { $0 } }

    func add() -> Bool {
        open.withLock { open in
            guard open < maximum else { return false }
            open += 1
            return true
        }
    }

    func remove() { open.withLock { $0 -= 1 } }

    /// The number of files that the process may have open. Without one for the next connection, SwiftNIO ends the
    /// acceptance of connections.
    private static var openFiles: Int {
        var limit = rlimit()
        #if canImport(Darwin) || canImport(Musl)
        let status = getrlimit(RLIMIT_NOFILE, &limit)
        #else
        let status = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #endif
        return status == 0 ? Int(clamping: limit.rlim_cur) : 1_024
    }
}

/// Closes a connection that is one too many, and counts the others. It is the first handler, before TLS.
final class ConnectionCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connections: ConnectionCount
    private let metrics: StorageServerMetrics?
    private var isCounted = false

    init(_ connections: ConnectionCount, _ metrics: StorageServerMetrics?) {
        (self.connections, self.metrics) = (connections, metrics)
    }

    func channelActive(context: ChannelHandlerContext) {
        guard connections.add() else {
            metrics?.refused(.connections)
            // From here, so that TLS says no goodbye to a client that it does not know yet.
            context.close(promise: nil)
            return
        }
        isCounted = true
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isCounted { connections.remove() }
        isCounted = false
        context.fireChannelInactive()
    }
}
#endif
