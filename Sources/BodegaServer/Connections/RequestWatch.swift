#if Server
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes the connection of a client that sends a request, or reads an answer, more slowly than it may. It also counts
/// the bytes of bodies, and lets a client that asks first send one; see RFC 9110, section 10.1.1.
///
/// What a client goes on to send after an answer that ends the connection is read and discarded: a client that reads
/// only after it has written would otherwise not see the answer. See RFC 9112, section 9.6.
final class RequestWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// What a client that is slow, but not stalled, must send.
    private static let minimumBytesPerSecond = 8_192.0

    private let limits: StorageServerLimits
    private let metrics: StorageServerMetrics?
    /// When the part of a request that is being received must be complete, or have grown enough.
    private var receiving: NIODeadline?
    /// The bytes of the body since that time was set.
    private var receivedBytes = 0
    /// When the client must have read some of an answer.
    private var reading: NIODeadline?
    /// The next time at which the two are checked. It stays when they are over, because a cancellation takes longer the
    /// more connections there are.
    private var check: (time: NIODeadline, task: Scheduled<Void>)?

    /// The number of requests whose answers have not ended.
    private var unanswered = 0
    /// Whether the answer to the request that is being received is the last one.
    private var isLast = false
    private var isDiscarding = false

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
        if isDiscarding {
            if case .end = Self.unwrapInboundIn(data) { context.close(promise: nil) }
            return
        }
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            // Not in the middle of an answer, if a client has not waited for its end.
            let length = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
            let mayContinue = unanswered == 0 && length <= limits.requestBytes
            if mayContinue, head.headerFields[.expect]?.lowercased() == "100-continue" {
                context.writeAndFlush(Self.wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
            unanswered += 1
            isLast = head.headerFields[.connection]?.lowercased() == "close"
            receiveMore()
            scheduleCheck(context)
        case .body(let part):
            metrics?.add(received: part.readableBytes)
            receivedBytes += part.readableBytes
            if Double(receivedBytes) >= Double(limits.bodySeconds) * Self.minimumBytesPerSecond { receiveMore() }
        case .end: receiving = nil
        }
        context.fireChannelRead(data)
    }

    private func receiveMore() {
        receiving = .now() + .seconds(limits.bodySeconds)
        receivedBytes = 0
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head: break
        case .body(let part): metrics?.add(sent: part.readableBytes)
        case .end:
            unanswered -= 1
            // The connection reads no more by itself.
            isDiscarding = isLast && receiving != nil
        }
        context.write(data, promise: promise)
        if isDiscarding { context.read() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if isDiscarding { context.read() }
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
