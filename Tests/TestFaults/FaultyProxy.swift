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
/// A frozen connection stays open, and what its sides send is kept: after ``thaw()`` it arrives late, also when the side that
/// sent it has closed the connection in the meantime, as it does after a stall of the network.
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

    /// The port that clients connect to.
    package let port: Int
    private let loop: ProxyLoop

    /// Starts a proxy to a port of 127.0.0.1. It ends with this object.
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

    /// The number of connections that were accepted so far.
    package var acceptedCount: Int { loop.read { $0.nextNumber } }

    /// Freezes the connections that are established now. New ones are served.
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

    /// Lets all connections go on: what was sent in the meantime arrives.
    package func thaw() {
        loop.change { state in
            state.frozenWhenNew = []
            for index in state.connections.indices { state.connections[index].thaw() }
        }
    }

    /// Ends the connections that are established now on both sides. What was not passed on yet is lost.
    package func cut(_ cut: Cut) {
        loop.change { state in
            for connection in state.connections { connection.close(cut) }
            state.connections = []
        }
    }

    /// Delays everything that is sent from now on, in each direction.
    package func delay(by delay: Duration) {
        loop.change { $0.delay = delay }
    }

    /// Loses the next connection on which the server sends certain bytes, before the client receives them, after a closure
    /// has run.
    ///
    /// - Parameters:
    ///   - isMeant: Whether bytes that the server has sent at once are the ones.
    ///   - body: Runs while the bytes are kept.
    package func loseAnswer(
        where isMeant: @escaping @Sendable (Data) -> Bool,
        after body: @escaping @Sendable () async throws -> Void
    ) {
        loop.change { state in
            state.answerToLose = ProxyLoop.AnswerToLose(isMeant: isMeant, body: body)
        }
    }

    /// Whether an answer has been lost.
    package var hasLostAnswer: Bool { loop.read { $0.hasLostAnswer } }
}
