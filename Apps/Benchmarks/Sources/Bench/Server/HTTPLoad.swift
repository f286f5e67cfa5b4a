import BenchHarness
import Foundation
import NIOCore
import NIOPosix

/// Clients that each send a request, wait for the whole response, and send the next one.
///
/// All of them run on one thread, and only count the bytes of a response, so that the server is the slower side.
struct HTTPLoad {
    /// A request, and the response that it must have.
    struct Exchange: Sendable {
        let request: ByteBuffer
        let status: Int
        /// The body of the response; `nil` for any.
        let body: Data?

        init(
            _ method: String, _ path: String, token: String, headers: [String: String] = [:], body: Data? = nil,
            expecting status: Int, _ expected: Data? = nil
        ) {
            var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n"
            for (name, value) in headers { text += "\(name): \(value)\r\n" }
            if let body { text += "Content-Length: \(body.count)\r\n" }
            var request = ByteBuffer(string: text + "\r\n")
            if let body { request.writeBytes(body) }
            (self.request, self.status, self.body) = (request, status, expected)
        }
    }

    let port: Int
    let connections: Int

    /// Sends requests, and returns the time that each of them took, in nanoseconds, and the time of all.
    ///
    /// - Parameter exchange: The request with a number.
    func run(
        _ count: Int, _ exchange: @escaping @Sendable (Int) -> Exchange
    ) async throws -> (each: [Duration], all: Duration) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        do {
            let progress = try await loop.submit { NIOLoopBound(Progress(count: count, exchange), eventLoop: loop) }
                .get()
            let (all, _) = try await timed {
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for _ in 0..<min(connections, count) {
                        tasks.addTask { try await Self.connect(port, loop, progress) }
                    }
                    try await tasks.waitForAll()
                }
            }
            let each = try await loop.submit { progress.value.times }.get()
            try await group.shutdownGracefully()
            try verify(each.count, equals: count, "responses")
            return (each.map { Duration.nanoseconds(Int64($0)) }, all)
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    private static func connect(
        _ port: Int, _ loop: any EventLoop, _ progress: NIOLoopBound<Progress>
    ) async throws {
        let end = loop.makePromise(of: Void.self)
        let client = ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RequestingHandler(progress.value, end))
                }
            }
        do {
            _ = try await client.connect(host: "127.0.0.1", port: port).get()
        } catch {
            end.fail(error)
        }
        try await end.futureResult.get()
    }

    /// The requests so far. Only the event loop uses it.
    final class Progress {
        let count: Int
        let exchange: @Sendable (Int) -> Exchange
        var next = 0
        var times: [UInt64] = []

        init(count: Int, _ exchange: @escaping @Sendable (Int) -> Exchange) {
            (self.count, self.exchange) = (count, exchange)
            times.reserveCapacity(count)
        }
    }
}

/// One of the clients.
private final class RequestingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let progress: HTTPLoad.Progress
    private let end: EventLoopPromise<Void>
    private var exchange: HTTPLoad.Exchange?
    private var start: UInt64 = 0
    private var response = ByteBuffer()

    init(_ progress: HTTPLoad.Progress, _ end: EventLoopPromise<Void>) { (self.progress, self.end) = (progress, end) }

    func channelActive(context: ChannelHandlerContext) { send(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        response.writeBuffer(&part)
        do {
            guard let exchange, let head = try HTTPResponseHead(response) else { return }
            // An answer that the server has not finished yet when it begins to send comes in chunks.
            let isComplete =
                head.isChunked
                ? response.readableBytesView.suffix(5).elementsEqual("0\r\n\r\n".utf8)
                : response.readableBytes >= head.bytes + head.bodyBytes
            guard isComplete else { return }
            try verify(head.status, equals: exchange.status, "the status")
            if let body = exchange.body {
                let isEqual = response.withUnsafeReadableBytes { bytes in
                    bytes[head.bytes..<(head.bytes + head.bodyBytes)].elementsEqual(body)
                }
                if !isEqual { throw VerificationFailure("a response has another body") }
            }
        } catch {
            end.fail(error)
            return context.close(promise: nil)
        }
        progress.times.append(FollowingChild.now - start)
        response.clear()
        send(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end.fail(VerificationFailure("the server has closed a connection"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end.fail(error)
        context.close(promise: nil)
    }

    private func send(_ context: ChannelHandlerContext) {
        guard progress.next < progress.count else {
            end.succeed()
            return context.close(promise: nil)
        }
        let exchange = progress.exchange(progress.next)
        progress.next += 1
        self.exchange = exchange
        start = FollowingChild.now
        context.writeAndFlush(wrapOutboundOut(exchange.request), promise: nil)
    }
}

/// The first lines of a response, as far as the load needs them.
struct HTTPResponseHead {
    let status: Int
    /// The number of bytes of the head.
    let bytes: Int
    let bodyBytes: Int
    /// Whether the body comes in chunks, of which the last one is empty.
    let isChunked: Bool

    /// - Returns: `nil` if the head has not arrived yet.
    init?(_ buffer: ByteBuffer) throws {
        let head = buffer.withUnsafeReadableBytes { bytes -> (status: Int, end: Int, length: Int, isChunked: Bool)? in
            var (lineStart, index, length, isChunked) = (0, 0, 0, false)
            while index + 1 < bytes.count {
                guard bytes[index] == UInt8(ascii: "\r"), bytes[index + 1] == UInt8(ascii: "\n") else {
                    index += 1
                    continue
                }
                if index == lineStart { return (Self.digits(bytes, from: 9), index + 2, length, isChunked) }
                if Self.begins(bytes[lineStart..<index], Self.chunked) { isChunked = true }
                if Self.begins(bytes[lineStart..<index], Self.lengthName) {
                    length = Self.digits(bytes, from: lineStart + Self.lengthName.count + 1)
                }
                index += 2
                lineStart = index
            }
            return nil
        }
        guard let head else { return nil }
        (status, bytes, bodyBytes, isChunked) = (head.status, head.end, head.length, head.isChunked)
    }

    private static let lengthName = Array("content-length:".utf8)

    private static let chunked = Array("transfer-encoding: chunked".utf8)

    private static func begins(_ line: Slice<UnsafeRawBufferPointer>, _ start: [UInt8]) -> Bool {
        line.count >= start.count && zip(line, start).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }

    private static func digits(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var number = 0
        for byte in bytes[start...] {
            guard (0x30...0x39).contains(byte) else { break }
            number = number * 10 + Int(byte - 0x30)
        }
        return number
    }
}
