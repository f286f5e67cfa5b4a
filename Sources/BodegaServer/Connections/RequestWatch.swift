#if Server
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes the connection of a client that sends a request, or reads an answer, more slowly than it may. It also counts
/// the bytes of bodies, and lets a client that asks first send one; see RFC 9110, section 10.1.1.
final class RequestWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: StorageServerLimits
    private let metrics: StorageServerMetrics?
    /// When the part of a request that is being received must be complete.
    private var receiving: NIODeadline?
    /// When the client must have read some of an answer.
    private var reading: NIODeadline?
    /// The next time at which the two are checked. It stays when they are over, because a cancellation takes longer the
    /// more connections there are.
    private var check: (time: NIODeadline, task: Scheduled<Void>)?

    /// The number of requests whose answers have not ended.
    private var unanswered = 0

    init(_ limits: StorageServerLimits, _ metrics: StorageServerMetrics?) {
        (self.limits, self.metrics) = (limits, metrics)
    }

    func channelActive(context: ChannelHandlerContext) {
        receiving = .now() + .seconds(limits.headSeconds)
        scheduleCheck(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            // Not in the middle of an answer, if a client has not waited for its end.
            if unanswered == 0, head.headerFields[.expect]?.lowercased() == "100-continue" {
                context.writeAndFlush(Self.wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
            unanswered += 1
            receiving = .now() + .seconds(limits.bodySeconds)
            scheduleCheck(context)
        case .body(let part): metrics?.add(received: part.readableBytes)
        case .end: receiving = nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head: break
        case .body(let part): metrics?.add(sent: part.readableBytes)
        case .end: unanswered -= 1
        }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        reading = context.channel.isWritable ? nil : .now() + .seconds(limits.stalledSeconds)
        scheduleCheck(context)
        context.fireChannelWritabilityChanged()
    }

    private func scheduleCheck(_ context: ChannelHandlerContext) {
        let next =
            if let receiving, let reading { min(receiving, reading) } else { receiving ?? reading }
        guard let next else { return }
        if let check, check.time <= next { return }
        check?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.checkTimes(context) }
        check = (next, task)
    }

    private func checkTimes(_ context: ChannelHandlerContext) {
        check = nil
        let now = NIODeadline.now()
        guard receiving.map({ $0 <= now }) ?? false || reading.map({ $0 <= now }) ?? false else {
            return scheduleCheck(context)
        }
        (receiving, reading) = (nil, nil)
        metrics?.refused(.time)
        context.close(promise: nil)
    }

    private func cancel() {
        check?.task.cancel()
        (check, receiving, reading) = (nil, nil, nil)
    }
}
#endif
