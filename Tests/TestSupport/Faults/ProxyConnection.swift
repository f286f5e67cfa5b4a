import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A client's connection through a proxy to a server.
struct ProxyConnection {
    let number: Int
    let client: Int32
    let server: Int32
    private var toServer = ProxyFlow()
    private var toClient = ProxyFlow()

    init(number: Int, client: Int32, server: Int32) {
        (self.number, self.client, self.server) = (number, client, server)
    }

    mutating func freeze(_ directions: FaultyProxy.Directions) {
        if directions.contains(.toServer) { toServer.isFrozen = true }
        if directions.contains(.toClient) { toClient.isFrozen = true }
    }

    mutating func thaw() {
        toServer.isFrozen = false
        toClient.isFrozen = false
    }

    var isOver: Bool { toServer.isOver && toClient.isOver }

    /// The time at which bytes are due, unless the connection is frozen.
    var due: ContinuousClock.Instant? {
        [toServer.due, toClient.due].compactMap { $0 }.min()
    }

    /// The events to wait for on both sockets. A socket without any is omitted, because poll would keep reporting its
    /// end.
    func interests(now: ContinuousClock.Instant) -> [pollfd] {
        [
            interest(client, incoming: toServer, outgoing: toClient, now),
            interest(server, incoming: toClient, outgoing: toServer, now),
        ]
    }

    private func interest(
        _ socket: Int32,
        incoming: ProxyFlow,
        outgoing: ProxyFlow,
        _ now: ContinuousClock.Instant
    ) -> pollfd {
        var events: Int32 = 0
        if incoming.canReceive { events |= Int32(POLLIN) }
        if let due = outgoing.due, due <= now { events |= Int32(POLLOUT) }
        return pollfd(fd: events == 0 ? -1 : socket, events: Int16(events), revents: 0)
    }

    /// Receives bytes from both sides.
    ///
    /// - Parameter ready: The sockets that are ready.
    /// - Returns: The bytes from the server.
    mutating func receive(ready: Set<Int32>, delay: Duration) -> ArraySlice<UInt8> {
        if ready.contains(client), toServer.canReceive { _ = toServer.receive(from: client, after: delay) }
        guard ready.contains(server), toClient.canReceive else { return [] }
        return toClient.receive(from: server, after: delay)
    }

    mutating func passOn() {
        toServer.send(to: server) { shutdown($0, Int32(SHUT_WR)) }
        toClient.send(to: client) { shutdown($0, Int32(SHUT_WR)) }
    }

    func close(_ cut: FaultyProxy.Cut) {
        for socket in [client, server] {
            switch cut {
            case .end: shutdown(socket, Int32(SHUT_WR))
            case .reset: Loopback.resetOnClose(socket)
            }
            _ = systemClose(socket)
        }
    }
}

private let systemClose = close
