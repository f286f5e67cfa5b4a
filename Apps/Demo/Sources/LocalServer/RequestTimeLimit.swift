package import HummingbirdCore
package import NIOCore
package import NIOHTTPTypes

/// Closes a connection if the body of a request does not end in time, however often a part of it arrives.
///
/// The server's idle timeout begins again with each part, so a client that sends a byte now and then would keep a
/// connection for ever. The same timeout limits a head, whose parts do not count, and the time between two requests.
package final class RequestTimeLimit: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart

    private let limit: TimeAmount
    private var closing: Scheduled<Void>?

    /// Creates the handler of one connection.
    ///
    /// - Parameter limit: The time from the end of a request's head to the end of its body.
    package init(_ limit: TimeAmount) {
        self.limit = limit
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: begin(context)
        case .body: break
        case .end: end()
        }
        context.fireChannelRead(data)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    private func begin(_ context: ChannelHandlerContext) {
        end()
        let channel = context.channel
        closing = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    }

    private func end() {
        closing?.cancel()
        closing = nil
    }
}

extension HTTP1Channel.Configuration {
    /// The configuration of a server on this machine.
    ///
    /// - Parameters:
    ///   - idle: The time after which a connection is closed on which nothing arrives, unless its request is being
    ///     processed; also the limit for the head of a request.
    ///   - request: The limit for the body of a request.
    package static func local(idle: TimeAmount, request: TimeAmount) -> HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(additionalChannelHandlers: [RequestTimeLimit(request)], idleTimeout: idle)
    }
}
