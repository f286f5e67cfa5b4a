#if Server
import NIOCore
import NIOHTTP1

/// Answers requests of HTTP 1.0 in that version: without chunks and interim answers, which its clients don't know, so
/// that the end of the connection ends the answer. See RFC 9112, section 6.1, and RFC 9110, section 15.2.
final class OldVersionAnswers: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Whether the last request, after which the connection ends, was of the old version.
    private var isOld = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = Self.unwrapInboundIn(data), (head.version.major, head.version.minor) < (1, 1)
        else {
            return context.fireChannelRead(data)
        }
        isOld = true
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        head.headers.remove(name: "Expect")
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isOld, case .head(var head) = Self.unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        head.version = .http1_0
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
    }
}
#endif
