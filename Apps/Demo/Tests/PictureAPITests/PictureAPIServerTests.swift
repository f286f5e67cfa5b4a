import AsyncHTTPClient
import Bodega
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import PictureAPI

/// The API as a listening server.
@Suite
struct PictureAPIServerTests {

    /// Runs a body with a running server and a client.
    private func run(
        _ limits: PictureAPIServer.Limits = .init(),
        _ body: (PictureAPIServer, HTTPClient) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pictures-\(UUID().uuidString)")
        let server = try PictureAPIServer(
            directory: FileManager.Directory(url: folder), limits: limits, logger: Logger(label: "tests"))
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        let http = HTTPClient(configuration: configuration)
        try await server.setOnline(true)
        let result = await Result { () async throws in try await body(server, http) }
        try await server.setOnline(false)
        try await http.shutdown()
        try FileManager.default.removeItem(at: folder)
        try result.get()
    }

    /// Runs a body with a connection to a server.
    private func connect(
        to server: PictureAPIServer,
        _ body: (NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws ->
            Void
    ) async throws {
        let port = try #require(Int(await server.address.split(separator: ":")[2]))
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        // After the time limit of the test, code that waits for this connection continues.
        try await withTaskCancellationHandler {
            try await connection.executeThenClose(body)
        } onCancel: {
            connection.channel.close(promise: nil)
        }
    }

    @Test func `The server can be switched off and on, is unreachable in between, and keeps its address`() async throws
    {
        try await run { server, http in
            let address = await server.address
            #expect(try await http.get(url: address + "/v1/status").get().status == .noContent)
            try await server.setOnline(false)
            await #expect(throws: (any Error).self) { try await http.get(url: address + "/v1/status").get() }
            try await server.setOnline(true)
            #expect(await server.address == address)
            #expect(try await http.get(url: address + "/v1/status").get().status == .noContent)
            // Of several concurrent calls, the last one decides.
            async let off: Void = server.setOnline(false)
            async let on: Void = server.setOnline(true)
            _ = try await (off, on)
            try await server.setOnline(false)
            #expect(await !server.isOnline)
        }
    }

    @Test func `A request under a foreign host name is refused`() async throws {
        try await run { server, http in
            var request = HTTPClientRequest(url: await server.address + "/v1/pictures/random")
            request.headers.replaceOrAdd(name: "Host", value: "evil.example")
            let answer = try await http.execute(request, timeout: .seconds(60))
            #expect(answer.status == .misdirectedRequest)
        }
    }

    @Test func `An idle connection is closed`() async throws {
        var limits = PictureAPIServer.Limits()
        limits.idle = .milliseconds(100)
        try await run(limits) { server, _ in
            try await connect(to: server) { inbound, _ in
                for try await _ in inbound {}
            }
        }
    }

    @Test(arguments: [0, 10])
    func `The connection of a request whose body does not end is closed`(arriving count: Int) async throws {
        var limits = PictureAPIServer.Limits()
        // Only the limit of requests can end it.
        (limits.idle, limits.request) = (.hours(24), .milliseconds(100))
        try await run(limits) { server, _ in
            try await connect(to: server) { inbound, outbound in
                let head = """
                    POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                    Content-Length: 100\r\n\r\n
                    """
                try await outbound.write(ByteBuffer(string: head))
                do {
                    for _ in 0..<count { try await outbound.write(ByteBuffer(string: " ")) }
                    for try await _ in inbound {}
                } catch is any Error {
                    // Closed while the client wrote or read.
                }
            }
        }
    }

    @Test func `A request that does not end does not prevent switching the server off`() async throws {
        var limits = PictureAPIServer.Limits()
        limits.shutdown = .milliseconds(100)
        try await run(limits) { server, _ in
            try await connect(to: server) { inbound, outbound in
                // The response to the first request shows that the second one has begun.
                try await outbound.write(
                    ByteBuffer(
                        string: """
                            GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n\
                            POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                            Content-Length: 100\r\n\r\n{
                            """))
                var answers = inbound.makeAsyncIterator()
                let answer = try #require(try await answers.next())
                #expect(String(buffer: answer).hasPrefix("HTTP/1.1 204"))
                try await server.setOnline(false)
                #expect(await !server.isOnline)
            }
            try await server.setOnline(true)
        }
    }
}

extension Result where Failure == any Error {
    /// The result of a body.
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
