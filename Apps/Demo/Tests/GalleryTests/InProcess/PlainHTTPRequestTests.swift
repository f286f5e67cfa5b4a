import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import Gallery

/// Requests to a server that responds as soon as a request begins, and closes the connection.
struct PlainHTTPRequestTests {
    /// Runs a body with the URL of the server.
    private func withHastyServer(_ body: (_ url: String) async throws -> Void) async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(HastyServer()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        try await body("http://127.0.0.1:\(port)/")
        try await server.close()
    }

    private func expectResponse(to request: PlainHTTPRequest) async throws {
        let response = try await request.response(upTo: 100, connectTimeout: .seconds(180))
        #expect(response.status == .unauthorized)
        #expect(String(buffer: response.body) == "Who?")
    }

    @Test func `A response to a request that is not sent as a whole is received`() async throws {
        try await withHastyServer { url in
            var request = try PlainHTTPRequest(.POST, url: url)
            // More than the buffers of both sockets can hold.
            request.setBody(Data(count: 64 * 1024 * 1024), type: "application/octet-stream")
            try await expectResponse(to: request)
        }
    }

    /// Other tasks keep the threads busy, so that the server may have closed the connection before the client's task
    /// resumes.
    @Test func `Responses are received on a busy machine`() async throws {
        let isDone = Flag()
        for _ in 0..<50 {
            Task.detached {
                while !isDone.value.load(ordering: .relaxed) {
                    for _ in 0..<5_000 { _ = getpid() }
                    await Task.yield()
                }
            }
        }
        defer { isDone.value.store(true, ordering: .relaxed) }
        try await withHastyServer { url in
            let request = try PlainHTTPRequest(.GET, url: url)
            try await withThrowingTaskGroup { group in
                for _ in 0..<600 { group.addTask { try await expectResponse(to: request) } }
                try await group.waitForAll()
            }
        }
    }
}

/// Responds to the first bytes of a request, reads no more of it, and sends nothing more.
private final class HastyServer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let response = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\nConnection: close\r\n\r\nWho?"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
        context.close(mode: .output, promise: nil)
    }
}

private final class Flag: Sendable { let value = Atomic(false) }
