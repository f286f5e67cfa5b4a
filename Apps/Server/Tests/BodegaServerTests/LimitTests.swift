import AsyncHTTPClient
import Bodega
import BodegaRemote
import BodegaServer
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("The limits of a server")
struct LimitTests {
    let database = MemoryStorageEngine()
    private let tokens: AccessTokens

    init() { tokens = AccessTokens(storage: database.collection(named: "tokens")) }

    func token(_ name: String = "a") async throws -> String {
        try await tokens.create(name: name, grants: [AccessGrant()]).token
    }

    func server(_ change: (inout StorageServerOptions) -> Void) async throws -> TestServer {
        try await TestServer(access: tokens, ["notes": database], changing: change)
    }

    func request(_ server: TestServer, _ path: String, _ token: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes\(path)")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        return request
    }

    func response(_ server: TestServer, _ path: String, _ token: String) async throws -> HTTPClientResponse {
        try await HTTPClient.shared.execute(request(server, path, token), timeout: .seconds(60))
    }

    // MARK: Connections

    static let health = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("closes a connection that is one too many, until another one has ended")
    func connections() async throws {
        let metrics = StorageServerMetrics()
        let server = try await server { options in
            options.limits.connections = 3
            options.metrics = metrics
        }
        var open: [RawConnection] = []
        for _ in 0..<3 {
            let connection = try RawConnection(port: server.port)
            connection.send(Self.health)
            #expect(await connection.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
            open.append(connection)
        }
        let fourth = try RawConnection(port: server.port)
        fourth.send(Self.health)
        #expect(await fourth.receive().isEmpty)
        #expect(metrics.text.contains("emporium_refused_total{limit=\"connections\"} 1\n"))
        #expect(metrics.text.contains("emporium_connections 3\n"))
        // The others are not affected.
        for connection in open {
            connection.send(Self.health)
            #expect(await connection.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
        }
        open.removeLast()
        // The server gets to know of the end at some time.
        var answer = ""
        while answer.isEmpty {
            let next = try RawConnection(port: server.port)
            next.send(Self.health)
            answer = await next.receive(to: "\r\n\r\n")
        }
        #expect(answer.hasPrefix("HTTP/1.1 204"))
    }

    // MARK: Answers on disk

    func fill(megabytes: Int) async throws {
        let data = Data(repeating: UInt8(ascii: "1"), count: 1 << 20)
        for number in 0..<megabytes { try await database.write(data, key: CacheKey("\(number)")) }
    }

    /// Asks for some items, and reads nothing.
    func ask(_ server: TestServer, _ token: String, _ request: String = "POST scan") throws -> RawConnection {
        let reader = try RawConnection(port: server.port, receiveBuffer: 4_096)
        let parts = request.split(separator: " ")
        reader.send(
            """
            \(parts[0]) /v1/collections/notes/\(parts[1]) HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(token)\r
            Connection: close\r

            """)
        reader.send(parts[0] == "POST" ? "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" : "\r\n")
        return reader
    }

    @Test("ends an answer that would take more space on disk than there is for all", arguments: [true, false])
    func answerFiles(_ isTooMuch: Bool) async throws {
        let metrics = StorageServerMetrics()
        let server = try await server { options in
            options.limits.totalAnswerFileBytes = (isTooMuch ? 32 : 256) << 20
            options.metrics = metrics
        }
        let token = try await token()
        try await fill(megabytes: 64)
        // Together they need more than one alone may have.
        let readers = [try ask(server, token), try ask(server, token)]
        var isFull = false
        for reader in readers {
            let answer = await reader.receive()
            #expect(answer.hasPrefix("HTTP/1.1 200"))
            let isWhole = answer.contains(#"{"end":true"#)
            if !isWhole { #expect(answer.contains(#"{"error":{"code":"storageFull""#)) }
            isFull = isFull || !isWhole
        }
        #expect(isFull == isTooMuch)
        // The space is free again.
        while !metrics.text.contains("emporium_answer_file_bytes 0\n") {
            #expect(try await response(server, "", token).status == .ok)
        }
    }

    private func end(of reader: RawConnection) async -> String { String(await reader.receive().suffix(300)) }

    @Test("ends an answer that would take more space on disk than there is for a client, and no other client's")
    func answerFilesOfClient() async throws {
        let metrics = StorageServerMetrics()
        let server = try await server { options in
            (options.limits.answerFileBytes, options.metrics) = (24 << 20, metrics)
        }
        let (own, other) = (try await token(), try await token("b"))
        try await fill(megabytes: 16)
        let readers = [try ask(server, own), try ask(server, own)]
        while metrics.text.contains("emporium_refused_total{limit=\"answerFiles\"} 0\n") {
            #expect(try await response(server, "", own).status == .ok)
        }
        #expect(try await end(of: ask(server, other)).contains(#"{"end":true"#))
        let ends = [await end(of: readers[0]), await end(of: readers[1])]
        let cut = ends.filter { !$0.contains(#"{"end":true"#) }
        #expect(!cut.isEmpty)
        for end in cut { #expect(end.contains(#"{"error":{"code":"tooLarge""#) && end.contains("Read them first")) }
        // The space is free again.
        #expect(try await end(of: ask(server, own)).contains(#"{"end":true"#))
    }

    @Test("keeps the order of an answer that is in memory and on disk")
    func answerOrder() async throws {
        let server = try await server { _ in }
        // Some lines go to the file alone, others together.
        let sizes = (0..<3_000).map { $0 % 100 == 99 ? 300_000 : $0 % 7 == 0 ? 6_000 : 10 }
        for (number, size) in sizes.enumerated() {
            let data = Data("\"\(String(repeating: "x", count: size))\"".utf8)
            try await database.write(data, key: CacheKey("\(number)"))
        }
        let token = try await token()
        var request = request(server, "/scan", token)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: "{}"))
        var body = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).body.makeAsyncIterator()
        var answer = try #require(try await body.next())
        // The client reads the rest after others were answered.
        for _ in 0..<100 { #expect(try await response(server, "", token).status == .ok) }
        while var part = try await body.next() { answer.writeBuffer(&part) }
        struct Line: Decodable {
            let key: String?
            let value: String?
        }
        let lines = try answer.readableBytesView.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Line.self, from: Data($0))
        }
        #expect(lines.dropLast().compactMap(\.key) == sizes.indices.map { "\($0)" })
        #expect(lines.dropLast().compactMap(\.value?.count) == sizes)
        #expect(lines.last?.key == nil)
    }

    // MARK: Requests and streams

    @Test("answers a client that sends more requests than it may with the time to wait")
    func rate() async throws {
        let server = try await server { options in
            options.limits.requestsPerSecond = 0.01
            options.limits.requestBurst = 3
        }
        let (one, other) = (try await token(), try await token())
        for _ in 0..<3 { #expect(try await response(server, "", one).status == .ok) }
        for _ in 0..<2 {
            let refused = try await response(server, "", one)
            #expect(refused.status == .tooManyRequests)
            #expect(refused.headers.first(name: "Content-Type") == "application/problem+json")
            let wait = try #require(refused.headers.first(name: "Retry-After").flatMap { Int($0) })
            #expect((50...100).contains(wait))
            let body = try await String(buffer: refused.body.collect(upTo: 1 << 16))
            #expect(body.contains(#""code":"rateLimited""#))
        }
        #expect(try await response(server, "", other).status == .ok)
        // Requests without a valid token don't count for anyone.
        for _ in 0..<5 { #expect(try await response(server, "", "x").status == .unauthorized) }
        #expect(try await response(server, "", other).status == .ok)
        let error = await #expect(throws: StorageError.self) { try await server.engine(token: one) }
        #expect(error?.code == .rateLimited && error?.retryAfter != nil)
    }

    @Test("lets a client go on after a while")
    func rateRecovers() async throws {
        let server = try await server { options in
            options.limits.requestsPerSecond = 20
            options.limits.requestBurst = 1
        }
        let token = try await token()
        var statuses: [UInt] = []
        while statuses.filter({ $0 == 200 }).count < 3 {
            statuses.append(try await response(server, "", token).status.code)
        }
        #expect(Set(statuses).isSubset(of: [200, 429]))
    }

    @Test("has a maximum number of streams of all clients")
    func streams() async throws {
        let server = try await server { $0.limits.totalStreams = 2 }
        var open: [HTTPClientResponse.Body.AsyncIterator] = []
        for _ in 0..<2 {
            let response = try await response(server, "/events", try await token())
            #expect(response.status == .ok)
            var parts = response.body.makeAsyncIterator()
            _ = try await parts.next()
            open.append(parts)
        }
        let refused = try await response(server, "/events", try await token())
        #expect(refused.status == .serviceUnavailable && refused.headers.first(name: "Retry-After") == "5")
        withExtendedLifetime(open) {}
    }

    @Test("has a maximum number of streams of a client, also of those that are asked for at the same time")
    func streamsTogether() async throws {
        let server = try await server { $0.limits.streams = 5 }
        let token = try await token()
        let answers = try await withThrowingTaskGroup(of: HTTPClientResponse.self) { group in
            for _ in 0..<30 { group.addTask { try await response(server, "/events", token) } }
            return try await group.reduce(into: [HTTPClientResponse]()) { $0.append($1) }
        }
        var open: [HTTPClientResponse.Body.AsyncIterator] = []
        for answer in answers where answer.status == .ok {
            var parts = answer.body.makeAsyncIterator()
            // None was answered, and then cut.
            #expect(try await parts.next().map { String(buffer: $0) }?.contains("begin") ?? false)
            open.append(parts)
        }
        #expect(open.count == 5 && answers.count { $0.status == .tooManyRequests } == 25)
        withExtendedLifetime(open) {}
    }

    // MARK: Bodies

    @Test("has a maximum size of bodies", arguments: [true, false])
    func bodies(_ isChunked: Bool) async throws {
        let server = try await server { $0.limits.requestBytes = 1_000 }
        let token = try await token()
        for (count, status) in [(1_000, HTTPResponseStatus.noContent), (1_001, .payloadTooLarge)] {
            var request = request(server, "/items/a", token)
            request.method = .PUT
            let bytes = ByteBuffer(repeating: UInt8(ascii: "1"), count: count)
            request.body = isChunked ? .stream([bytes].async(), length: .unknown) : .bytes(bytes)
            #expect(try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status == status)
        }
    }

    @Test("survives messages and items that are nested deeply")
    func nesting() async throws {
        let server = try await server { _ in }
        let token = try await tokens.create(
            name: "a",
            grants: [AccessGrant(collection: "notes", matching: "@.a.a.a.a != 1", rights: [.read, .write, .manage])]
        ).token
        let deep = (String(repeating: "[", count: 100_000), String(repeating: "]", count: 100_000))
        let texts = [
            deep.0 + deep.1, deep.0, #"{"keys":\#(deep.0)\#(deep.1)}"#, #"{"scans":[\#(deep.0)\#(deep.1)]}"#,
            #"{"within":\#(deep.0)\#(deep.1)}"#, #"{"references":\#(deep.0)\#(deep.1)}"#,
            #"{"search":\#(String(repeating: #"{"and":["#, count: 50_000))"#,
            String(repeating: #"{"a":"#, count: 100_000) + "1" + String(repeating: "}", count: 100_000),
        ]
        for text in texts {
            for path in ["/scan", "/fetch", "/changes", "/indexes", "/indexes/remove"] {
                var request = request(server, path, token)
                request.method = .POST
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(ByteBuffer(string: text))
                let code = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status.code
                #expect([200, 204, 400].contains(code))
            }
            var request = request(server, "/items/deep", token)
            request.method = .PUT
            request.body = .bytes(ByteBuffer(string: text))
            let code = try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status.code
            #expect([204, 403].contains(code))
            _ = try await server.engine(token: token).fetchAll()
        }
    }
}

extension Array where Element: Sendable {
    /// The elements as an asynchronous sequence.
    fileprivate func async() -> AsyncStream<Element> {
        AsyncStream { continuation in
            for element in self { continuation.yield(element) }
            continuation.finish()
        }
    }
}
