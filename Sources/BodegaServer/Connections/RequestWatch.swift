#if Server
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes the connection of a client that sends a request, or reads an answer, more slowly than it may. It also counts
/// the bytes of bodies.
final class RequestWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: StorageServerLimits
    private let metrics: StorageServerMetrics?
    /// The end of the time for the part of a request that is being received.
    private var receiving: Scheduled<Void>?
    /// The end of the time in which the client must read some of an answer.
    private var stalled: Scheduled<Void>?

    init(_ limits: StorageServerLimits, _ metrics: StorageServerMetrics?) {
        (self.limits, self.metrics) = (limits, metrics)
    }

    func channelActive(context: ChannelHandlerContext) {
        receiving = close(context, in: limits.headSeconds)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head:
            receiving?.cancel()
            receiving = close(context, in: limits.bodySeconds)
        case .body(let part): metrics?.add(received: part.readableBytes)
        case .end:
            receiving?.cancel()
            receiving = nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .body(let part) = Self.unwrapOutboundIn(data) { metrics?.add(sent: part.readableBytes) }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stalled?.cancel()
        stalled = context.channel.isWritable ? nil : close(context, in: limits.stalledSeconds)
        context.fireChannelWritabilityChanged()
    }

    private func close(_ context: ChannelHandlerContext, in seconds: Int64) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(seconds)) { [metrics] in
            metrics?.refused(.time)
            context.close(promise: nil)
        }
    }

    private func cancel() {
        receiving?.cancel()
        stalled?.cancel()
        (receiving, stalled) = (nil, nil)
    }
}
#endif
