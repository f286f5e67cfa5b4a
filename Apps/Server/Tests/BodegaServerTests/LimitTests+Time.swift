import AsyncHTTPClient
import Bodega
import BodegaServer
import Foundation
import NIOHTTP1
import Testing

/// Clients that are slow, stalled, or gone.
extension LimitTests {

    @Test("closes the connection of a client that sends the head of its request too slowly")
    func slowHead() async throws {
        let server = try await server { $0.limits.headSeconds = 2 }
        let kept = try RawConnection(port: server.port)
        kept.send(Self.health)
        #expect(await kept.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
        let silent = try RawConnection(port: server.port)
        #expect(await silent.receive().isEmpty)
        // The limit is for the first head only.
        kept.send(Self.health)
        #expect(await kept.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
        let dripping = try RawConnection(port: server.port)
        dripping.send("GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: ")
        await dripping.drip("x")
    }

    @Test("closes the connection of a client that sends the body of its request too slowly")
    func slowBody() async throws {
        let server = try await server { options in
            options.limits.bodySeconds = 1
            options.limits.idleSeconds = 600
        }
        let token = try await token()
        let dripping = try RawConnection(port: server.port)
        dripping.send(
            """
            PUT /v1/collections/notes/items/a HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(token)\r
            Content-Length: 100000\r
            \r\n
            """)
        await dripping.drip("x")
        #expect(try await database.fetch(key: CacheKey("a")) == nil)
    }

    @Test(
        "closes the connection of a client that does not read its answer, of which it keeps little in memory",
        arguments: ["POST scan", "GET items/a"])
    func stalledReader(request: String) async throws {
        let metrics = StorageServerMetrics()
        let server = try await server { options in
            options.limits.stalledSeconds = 1
            options.metrics = metrics
        }
        let token = try await token()
        try await fill(megabytes: 64)
        try await database.write(Data(repeating: UInt8(ascii: "1"), count: 64 << 20), key: CacheKey("a"))
        let reader = try ask(server, token, request)
        while try number(of: "refused_total{limit=\"time\"}", in: metrics) < 1 {
            // A request takes some time, and is one more thing that a waiting client must not hold up.
            #expect(try await response(server, "", token).status == .ok)
        }
        // What the system takes without a reader, and a little more: not all that was on the way to the connection.
        #expect(try number(of: "answer_bytes_total", in: metrics) <= systemBuffer + 1 << 20)
        // What had been sent, without the last line.
        let answer = await reader.receive()
        #expect(answer.hasPrefix("HTTP/1.1 200") && answer.utf8.count < 64 << 20)
    }

    @Test("counts large items that clients have not read, and refuses more")
    func unreadItems() async throws {
        let server = try await server { options in
            options.limits.requestBytes = 16 << 20
            options.limits.bodyBytes = 40 << 20
        }
        let token = try await token()
        try await database.write(Data(repeating: UInt8(ascii: "1"), count: 16 << 20), key: CacheKey("a"))
        var readers = [try ask(server, token, "GET items/a"), try ask(server, token, "GET items/a")]
        // Another request, if it came before one of those, would leave too little for it.
        for reader in readers { #expect(await reader.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 200")) }
        #expect(try await response(server, "/items/a", token).status == .tooManyRequests)
        #expect(try await response(server, "", token).status == .ok)
        #expect(readers.count == 2)
        readers = []
        while try await response(server, "/items/a", token).status != .ok {}
    }

    @Test("ends a read whose client is gone, also before it has an answer", arguments: ["scan", "query"])
    func goneReader(path: String) async throws {
        let engine = WaitingEngine(base: MemoryStorageEngine())
        let server = try await TestServer(["notes": engine])
        let body = #"{"\#(path == "scan" ? "scans" : "order")":[]}"#
        var client: RawConnection? = try RawConnection(port: server.port)
        client?.send(
            """
            POST /v1/collections/notes/\(path) HTTP/1.1\r
            Host: localhost\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """)
        for await _ in engine.begun.stream { break }
        client = nil
        for await _ in engine.cancelled.stream { break }
    }

    private func number(of name: String, in metrics: StorageServerMetrics) throws -> Int {
        let line = metrics.text.split(separator: "\n").first { $0.hasPrefix("emporium_\(name) ") }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
    }

    /// The maximum number of bytes of a connection that the system keeps until they can be sent.
    private var systemBuffer: Int {
        get throws {
            #if os(Linux)
            let sizes = try String(contentsOfFile: "/proc/sys/net/ipv4/tcp_wmem", encoding: .utf8)
            return try #require(sizes.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) })
            #else
            return 8 << 20
            #endif
        }
    }

    #if os(Linux)
    @Test("ends the stream of a client that has vanished without an end of its connection")
    func vanishedClient() async throws {
        let metrics = StorageServerMetrics()
        let server = try await server { options in
            options.limits.stalledSeconds = 1
            options.metrics = metrics
        }
        let token = try await token()
        let client = try RawConnection(port: server.port)
        client.send(
            """
            GET /v1/collections/notes/events HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(token)\r
            \r\n
            """)
        #expect(await client.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(try number(of: "streams", in: metrics) == 1)
        try client.vanish()
        try await database.write(Data("1".utf8), key: CacheKey("a"))
        // The system sends again what is not acknowledged, for eleven seconds.
        while try number(of: "streams", in: metrics) > 0 { try await Task.sleep(for: .milliseconds(100)) }
    }
    #endif

    @Test("receives a large body that is sent slowly, but all the time")
    func slowBodyWithProgress() async throws {
        let server = try await server { $0.limits.bodySeconds = 2 }
        let token = try await token()
        let part = String(repeating: "1", count: 1 << 16)
        let client = try RawConnection(port: server.port)
        client.send(
            """
            PUT /v1/collections/notes/items/a HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(token)\r
            Content-Length: \(part.utf8.count * 40)\r
            \r\n
            """)
        // At least four seconds. What follows the body is not a request, so the server ends the connection.
        await client.drip(part)
        #expect(try await database.fetch(key: CacheKey("a"))?.count == part.utf8.count * 40)
    }

    @Test("waits for a client that reads a large item slowly, but all the time", arguments: ["close", "keep-alive"])
    func slowReader(connection: String) async throws {
        let metrics = StorageServerMetrics()
        let server = try await server { options in
            (options.limits.stalledSeconds, options.limits.idleSeconds) = (3, 3)
            options.metrics = metrics
        }
        let token = try await token()
        let count = 60 << 20
        try await database.write(Data(repeating: UInt8(ascii: "1"), count: count), key: CacheKey("a"))
        let reader = try RawConnection(port: server.port, receiveBuffer: 65_536)
        reader.send(
            """
            GET /v1/collections/notes/items/a HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(token)\r
            Connection: \(connection)\r
            \r\n
            """)
        // At least six seconds. What the system sends by itself, some megabytes, takes less than a limit.
        let received = await reader.receive(bytesPerMillisecond: 10_240)
        #expect(received > count)
        #expect(metrics.text.contains("emporium_refused_total{limit=\"time\"} 0\n"))
    }
}

/// An engine whose scans end only when they are cancelled.
private struct WaitingEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let begun = AsyncStream<Void>.makeStream()
    let cancelled = AsyncStream<Void>.makeStream()

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        guard case .scan = call else { return try await body() }
        begun.continuation.yield()
        do {
            try await Task.sleep(for: .seconds(3_600))
        } catch {
            cancelled.continuation.yield()
            throw error
        }
        return try await body()
    }
}
