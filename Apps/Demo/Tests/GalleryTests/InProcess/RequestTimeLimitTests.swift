import HTTPTypes
import LocalServer
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

/// The limit for the bodies of requests, on an event loop whose time the tests advance.
struct RequestTimeLimitTests {

    private let channel = EmbeddedChannel()

    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/"))

    init() throws {
        try channel.pipeline.syncOperations.addHandler(RequestTimeLimit(.seconds(30)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func body() -> HTTPRequestPart { .body(ByteBuffer(string: "x")) }

    @Test func `A body that ends in time is passed on, and its connection stays open`() throws {
        try channel.writeInbound(Self.head)
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        try channel.writeInbound(body())
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == Self.head)
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == body())
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == .end(nil))
    }

    @Test func `A body that does not end closes the connection, however often a part of it arrives`() throws {
        try channel.writeInbound(Self.head)
        for _ in 0..<29 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(body())
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `Each request of a connection has the whole time`() throws {
        for _ in 0..<3 {
            try channel.writeInbound(Self.head)
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            #expect(channel.isActive)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            channel.embeddedEventLoop.advanceTime(by: .hours(1))
            #expect(channel.isActive)
        }
        try channel.writeInbound(Self.head)
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }
}
