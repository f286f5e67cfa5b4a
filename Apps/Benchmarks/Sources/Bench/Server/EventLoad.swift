import BenchHarness
import Bodega
import Foundation
import NIOCore
import NIOPosix

/// Open streams of events, all of them on one thread.
final class EventLoad: Sendable {
    /// A change that a stream has received.
    struct Arrival: Sendable {
        /// The number of the stream.
        let stream: Int
        /// The number of the item, see ``ServedNotes``.
        let item: Int
        let moment: UInt64
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let arrivals: AsyncStream<Arrival>
    private let arrived: AsyncStream<Arrival>.Continuation

    init() { (arrivals, arrived) = AsyncStream.makeStream() }

    /// Opens streams one after another, each when the one before has begun.
    func open(_ tokens: [String], port: Int) async throws {
        let width = 16
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for first in 0..<min(width, tokens.count) {
                tasks.addTask {
                    for number in stride(from: first, to: tokens.count, by: width) {
                        try await self.open(tokens[number], number, port)
                    }
                }
            }
            try await tasks.waitForAll()
        }
    }

    private func open(_ token: String, _ number: Int, _ port: Int) async throws {
        let loop = group.next()
        let begun = loop.makePromise(of: Void.self)
        let request = HTTPLoad.Exchange("GET", "/v1/collections/notes/events", token: token, expecting: 200).request
        do {
            let channel = try await ClientBootstrap(group: loop)
                .channelInitializer { [arrived] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(EventHandler(number, begun, arrived))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            try await channel.writeAndFlush(request)
        } catch {
            begun.fail(error)
        }
        try await begun.futureResult.get()
    }

    /// The next changes that streams receive.
    func next(_ count: Int) async throws -> [Arrival] {
        var result: [Arrival] = []
        for await arrival in arrivals {
            result.append(arrival)
            if result.count == count { break }
        }
        try verify(result.count, equals: count, "changes that arrived")
        return result
    }

    /// Closes all streams.
    func close() async throws { try await group.shutdownGracefully() }
}

/// One of the streams.
private final class EventHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let number: Int
    private let begun: EventLoopPromise<Void>
    private let arrived: AsyncStream<EventLoad.Arrival>.Continuation
    private var unread: [UInt8] = []
    private var hasBegun = false

    init(
        _ number: Int, _ begun: EventLoopPromise<Void>, _ arrived: AsyncStream<EventLoad.Arrival>.Continuation
    ) {
        (self.number, self.begun, self.arrived) = (number, begun, arrived)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let moment = FollowingChild.now
        unread += unwrapInboundIn(data).readableBytesView
        if !hasBegun {
            let text = String(decoding: unread, as: UTF8.self)
            guard text.contains("event: begin\ndata: {}\n\n") else {
                if !text.hasPrefix("HTTP/1.1 200") { fail("a stream was refused: \(text.prefix(200))", context) }
                return
            }
            hasBegun = true
            begun.succeed()
        }
        // All that is needed of a frame is which items have changed.
        while let found = unread.firstRange(of: Self.mark) {
            let digits = unread[found.upperBound...].prefix { (0x30...0x39).contains($0) }
            guard digits.endIndex < unread.endIndex else { return }
            guard let item = Int(String(decoding: digits, as: UTF8.self)) else {
                return fail("a frame has no number", context)
            }
            arrived.yield(EventLoad.Arrival(stream: number, item: item, moment: moment))
            unread.removeSubrange(..<digits.endIndex)
        }
        unread = unread.suffix(Self.mark.count)
    }

    private static let mark = Array(#""note-"#.utf8)

    private func fail(_ text: String, _ context: ChannelHandlerContext) {
        begun.fail(VerificationFailure(text))
        arrived.finish()
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { fail("the server has ended a stream", context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        begun.fail(error)
        arrived.finish()
        context.close(promise: nil)
    }
}
