import Bodega
import BodegaServer
import Foundation
import Testing

@Suite("HTTP as a server speaks it")
struct HTTPTests {
    private let database = MemoryStorageEngine()

    @Test("lets a client that asks first send its body, and not while it is answering")
    func asksFirst() async throws {
        let server = try await TestServer(["notes": database])
        let connection = try RawConnection(port: server.port)
        for _ in 0..<2 {
            connection.send(
                "PUT /v1/collections/notes/items/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
                    + "Expect: 100-continue\r\n\r\n")
            #expect(await connection.receive(to: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            connection.send("1")
            #expect(await connection.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
        }
        #expect(try await database.fetch(key: CacheKey("a")) == Data("1".utf8))
        // A stream of events is an answer without an end.
        let early = "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"
        connection.send("GET /v1/collections/notes/events HTTP/1.1\r\nHost: localhost\r\n\r\n" + early)
        let begin = await connection.receive(to: "event: begin\ndata: {}\n\n")
        try await database.write(Data("2".utf8), key: CacheKey("b"))
        let events = await connection.receive(to: "event: changes")
        #expect(!(begin + events).contains("HTTP/1.1 100"))
    }

    @Test("answers a client of version 1.0 without chunks, and ends the answer with the connection")
    func oldVersion() async throws {
        let server = try await TestServer(["notes": database])
        try await database.write(Data("[1]".utf8), key: CacheKey("a"))
        // More than a server answers in one piece.
        let large = Data("\"\(String(repeating: "x", count: 50_000))\"".utf8)
        try await database.write((0..<40).map { (CacheKey("\($0)"), large) })
        func answer(_ request: String, _ headers: String, _ body: String = "") async throws -> (String, String) {
            let connection = try RawConnection(port: server.port)
            connection.send("\(request) HTTP/1.0\r\nHost: localhost\r\n\(headers)\r\n\(body)")
            let text = await connection.receive()
            let end = try #require(text.range(of: "\r\n\r\n"))
            return (text[..<end.lowerBound].lowercased(), String(text[end.upperBound...]))
        }
        let json = "Content-Type: application/json\r\nContent-Length: 2\r\n"
        let (head, body) = try await answer(
            "POST /v1/collections/notes/scan", json + "Connection: keep-alive\r\n", "{}")
        #expect(head.hasPrefix("http/1.0 200") && !head.contains("transfer-encoding"), "\(head)")
        #expect(!head.contains("content-length") && head.contains("connection: close"), "\(head)")
        let lines = body.split(separator: "\n")
        #expect(lines.count == 42 && lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
        let item = try await answer("GET /v1/collections/notes/items/a", "")
        #expect(item.0.hasPrefix("http/1.0 200") && item.1 == "[1]")
        let written = try await answer(
            "PUT /v1/collections/notes/items/a", "Content-Length: 1\r\nExpect: 100-continue\r\n", "3")
        #expect(written.0.hasPrefix("http/1.0 204"))
        #expect(try await database.fetch(key: CacheKey("a")) == Data("3".utf8))
        let current = try RawConnection(port: server.port)
        current.send("POST /v1/collections/notes/scan HTTP/1.1\r\nHost: localhost\r\n\(json)\r\n{}")
        #expect(await current.receive(to: "\r\n\r\n").lowercased().contains("transfer-encoding: chunked"))
    }

    @Test("answers a request for the head only without a body, also with an error")
    func heads() async throws {
        let server = try await TestServer(["notes": database])
        let connection = try RawConnection(port: server.port)
        let paths = [
            "collections/notes/items/a?kind=x", "collections/notes/items/a", "collections/x/items/a",
            "collections/notes/scan", "health",
        ]
        for path in paths { connection.send("HEAD /v1/\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n") }
        connection.send("HEAD /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let answers = await connection.receive()
        let statuses = answers.split(separator: "\r\n\r\n").map { $0.prefix(12).suffix(3) }
        #expect(statuses == ["400", "404", "404", "405", "204", "404"])
    }

    @Test(
        "refuses to store a part of an item, or an encoded one, as the item",
        arguments: [
            ("Content-Range: bytes 0-0/3", "400"), ("Content-Encoding: gzip", "415"),
            ("Content-Encoding: identity, br", "415"), ("Content-Encoding: Identity", "204"),
            ("Transfer-Encoding: gzip, chunked", "501"), ("Transfer-Encoding: Chunked", "204"),
        ])
    func parts(_ header: String, _ status: String) async throws {
        let server = try await TestServer(["notes": database])
        try await database.write(Data("old".utf8), key: CacheKey("a"))
        let connection = try RawConnection(port: server.port)
        let isChunked = header.hasPrefix("Transfer")
        connection.send(
            "PUT /v1/collections/notes/items/a HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n"
                + (isChunked ? "\r\n1\r\n1\r\n0\r\n\r\n" : "Content-Length: 1\r\n\r\n1"))
        #expect(await connection.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 \(status)"))
        let isWritten = status == "204"
        #expect(try await database.fetch(key: CacheKey("a")) == Data((isWritten ? "1" : "old").utf8))
    }

    @Test("answers a client that sends all of a body that is too large before it reads, and ends the connection")
    func lateReader() async throws {
        var limits = StorageServerLimits()
        limits.requestBytes = 1_000
        let server = try await TestServer(limits: limits, ["notes": database])
        let head = "PUT /v1/collections/notes/items/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        let length = 32 << 20
        let connection = try RawConnection(port: server.port)
        #expect(connection.send(head + "Content-Length: \(length)\r\n\r\n" + String(repeating: "1", count: length)))
        #expect(await connection.receive().hasPrefix("HTTP/1.1 413"))
        // Who asks first, and learns that it is too large, does not have to send it.
        let asking = try RawConnection(port: server.port)
        asking.send(head + "Content-Length: \(length)\r\nExpect: 100-continue\r\n\r\n")
        #expect(await asking.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 413"))
    }

    @Test("takes an asterisk for any item only where it is alone")
    func asterisks() async throws {
        let server = try await TestServer(["notes": database])
        try await database.write(Data("old".utf8), key: CacheKey("a"))
        for (condition, status) in [("\"b, *, c\"", "412"), (" * ", "204")] {
            let connection = try RawConnection(port: server.port)
            connection.send(
                "PUT /v1/collections/notes/items/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
                    + "Connection: close\r\nIf-Match: \(condition)\r\n\r\n1")
            #expect(await connection.receive().hasPrefix("HTTP/1.1 \(status)"))
        }
        #expect(try await database.fetch(key: CacheKey("a")) == Data("1".utf8))
    }
}
