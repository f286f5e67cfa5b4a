import Bodega
package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A proxy between clients and a server on loopback that freezes, delays and cuts connections.
///
/// A frozen connection stays open, and the proxy buffers the bytes that its sides send. They arrive after ``thaw()``,
/// even if the sender has closed the connection in the meantime, as after a network stall.
package final class FaultyProxy: Sendable {

    /// The directions of a connection.
    package struct Directions: OptionSet, Sendable {
        package var rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        package static let toServer = Directions(rawValue: 1)
        package static let toClient = Directions(rawValue: 2)
        package static let both: Directions = [.toServer, .toClient]
    }

    /// How a connection ends.
    package enum Cut: Sendable, CaseIterable {
        /// With FIN, as if the other side had closed it.
        case end
        /// With RST.
        case reset
    }

    /// The port for clients.
    package let port: Int
    private let loop: ProxyLoop

    /// Starts a proxy to a port of 127.0.0.1. It stops when this object is deinitialized.
    package init(to server: Int) throws {
        let (listener, port) = try Loopback.listen()
        self.port = port
        loop = try ProxyLoop(listener: listener, server: server)
        let loop = loop
        Thread { loop.run() }.start()
    }

    deinit { loop.change { $0.isOver = true } }

    /// The number of connections, frozen ones included.
    package var connectionCount: Int { loop.read { $0.connections.count } }

    /// The number of connections accepted so far.
    package var acceptedCount: Int { loop.read { $0.nextNumber } }

    /// Freezes the established connections. New ones are served.
    package func freeze(_ directions: Directions = .both) {
        loop.change { state in
            for index in state.connections.indices { state.connections[index].freeze(directions) }
        }
    }

    /// Freezes all connections, new ones included, until ``thaw()``.
    package func partition(_ directions: Directions = .both) {
        freeze(directions)
        loop.change { $0.frozenWhenNew = directions }
    }

    /// Resumes all connections. Bytes sent in the meantime arrive.
    package func thaw() {
        loop.change { state in
            state.frozenWhenNew = []
            for index in state.connections.indices { state.connections[index].thaw() }
        }
    }

    /// Ends the established connections on both sides. Bytes that were not forwarded yet are lost.
    package func cut(_ cut: Cut) {
        loop.change { state in
            for connection in state.connections { connection.close(cut) }
            state.connections = []
        }
    }

    /// Delays all bytes that are sent from now on, in each direction.
    package func delay(by delay: Duration) {
        loop.change { $0.delay = delay }
    }

    /// Cuts the next connection on which the server sends certain bytes, after a closure has run and before the client
    /// receives the bytes.
    ///
    /// - Parameters:
    ///   - isMeant: Whether bytes that the server has sent together are the ones to lose.
    ///   - body: Runs while the proxy holds the bytes.
    package func loseAnswer(
        where isMeant: @escaping @Sendable (Data) -> Bool,
        after body: @escaping @Sendable () async throws -> Void
    ) {
        loop.change { state in
            state.answerToLose = ProxyLoop.AnswerToLose(isMeant: isMeant, body: body)
        }
    }

    /// Whether a response has been lost.
    package var hasLostAnswer: Bool { loop.read { $0.hasLostAnswer } }
}
