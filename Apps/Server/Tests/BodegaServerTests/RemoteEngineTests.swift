import AsyncHTTPClient
import Bodega
import BodegaHTTP
import BodegaRemote
import BodegaServer
import Boutique
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("An engine that speaks to a server")
struct RemoteEngineTests {

    struct Note: Codable, Equatable, Identifiable, Sendable {
        var id: String
        var text = ""
    }

    @MainActor
    @Test("Stores on one server show each other's changes")
    func stores() async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        let first = try await Store<Note>(storage: try await server.engine())
        let second = try await Store<Note>(storage: try await server.engine())
        try await first.insert(Note(id: "a", text: "1"))
        try await second.insert([Note(id: "b"), Note(id: "c")])
        while first.items.count < 3 || second.items.count < 3 { await Task.yield() }
        try await second.remove(Note(id: "b"))
        try await first.update(id: "a") { $0.text = "2" }
        while first.items.count > 2 || second["a"]?.text != "2" { await Task.yield() }
        #expect(first.items == [Note(id: "a", text: "2"), Note(id: "c")])
        #expect(second.items == first.items)
    }

    @Test("A transaction over two collections is applied as a whole")
    func transaction() async throws {
        let database = MemoryStorageEngine()
        let server = try await TestServer(["a": database.collection(named: "a"), "b": database.collection(named: "b")])
        let connection = try RemoteDatabase(server.url)
        let (a, b) = (try await connection.collection(named: "a"), try await connection.collection(named: "b"))
        let key = CacheKey("k")
        let batches = [
            (engine: a as any StorageBackend, batch: StorageBatch([.write(key: key, data: Data("1".utf8))])),
            (
                engine: b,
                batch: StorageBatch(
                    [.write(key: key, data: Data("2".utf8))], if: [StorageCondition(key: key, data: nil)])
            ),
        ]
        let first = try await StorageBatchGroup.apply(batches).map(\.value.wasApplied)
        #expect(first == [true, true])
        try await a.remove(key: key)
        let second = try await StorageBatchGroup.apply(batches).map(\.value.wasApplied)
        #expect(second.contains(false))
        #expect(try await a.fetchCount() == 0)
        #expect(try await b.fetch(key: key) == Data("2".utf8))
    }

    /// Ends each response after some bytes, as a lost connection or a careless proxy does.
    private struct CuttingTransport: HTTPStorageTransport {
        let bytes: Int

        func send(_ request: HTTPStorageRequest) async throws -> HTTPStorageResponse {
            var response = try await URLSessionTransport.shared.send(request)
            if request.url.path.hasSuffix("scan") || request.url.path.hasSuffix("fetch")
                || request.url.path.hasSuffix("changes")
            {
                response.body = response.body.prefix(bytes)
            }
            return response
        }

        func open(_ request: HTTPStorageRequest) async throws -> HTTPStorageStream {
            let response = try await send(request)
            let parts = Parts(response.body)
            return HTTPStorageStream(head: response, nextPart: { parts.next() })
        }

        /// Parts of seven bytes, so that lines are divided anywhere.
        private final class Parts: @unchecked Sendable {
            private var rest: Data
            init(_ data: Data) { rest = data }

            func next() -> Data? {
                if rest.isEmpty { return nil }
                defer { rest = rest.dropFirst(7) }
                return rest.prefix(7)
            }
        }
    }

    @Test("An answer that is cut off is never taken for a whole one")
    func cuts() async throws {
        let engine = MemoryStorageEngine()
        let server = try await TestServer(["notes": engine])
        let (a, b) = (CacheKey("a"), CacheKey(verbatim: "b\n"))
        let cursor = try await engine.fetchCursor()
        try await engine.write([(a, Data(#"{"end":true}"#.utf8)), (b, Data("x\ny".utf8))])
        var whole = 0
        var options = RemoteStorageOptions()
        options.retryPolicy.maximumAttempts = 1
        for bytes in 0..<400 {
            let remote = try await RemoteStorageEngine(
                connecting: server.url, collection: "notes", options: options,
                transport: CuttingTransport(bytes: bytes))
            let reads: [() async throws -> Bool] = [
                { try await remote.fetchAll().map(\.data) == [Data(#"{"end":true}"#.utf8), Data("x\ny".utf8)] },
                { try await remote.fetchKeys(among: [b, a]) == [b, a] },
                { try await remote.fetchChanges(since: cursor, excluding: nil)?.changes.map(\.key) == [a, b] },
                { try await remote.fetchCount() == 2 },
            ]
            for read in reads {
                do {
                    #expect(try await read(), "\(bytes) bytes")
                    whole += 1
                } catch let error as StorageError {
                    #expect(error.code == .unreachable, "\(bytes): \(error)")
                }
            }
        }
        #expect(whole > 400)
    }

    /// Answers like something between a client and its server.
    private struct OtherTransport: HTTPStorageTransport {
        let status: Int
        let type: String
        let body: String
        /// Whether the description of the collection comes from the server.
        let server: URL

        func send(_ request: HTTPStorageRequest) async throws -> HTTPStorageResponse {
            if request.url.path.hasSuffix("collections/notes") {
                return try await URLSessionTransport.shared.send(request)
            }
            return HTTPStorageResponse(status: status, headers: ["Content-Type": type], body: Data(body.utf8))
        }

        func open(_ request: HTTPStorageRequest) async throws -> HTTPStorageStream {
            let response = try await send(request)
            let rest = Rest(response.body)
            return HTTPStorageStream(head: response, nextPart: { rest.take() })
        }

        private final class Rest: @unchecked Sendable {
            // @unchecked because a stream has one reader.
            private var data: Data?
            init(_ data: Data) { self.data = data }

            func take() -> Data? {
                defer { data = nil }
                return data
            }
        }
    }

    @Test(
        "An answer of something else than the server shows nothing about items, and refuses no change",
        arguments: [
            (200, "text/html", "<html>Please accept our terms.</html>", StorageError.Code.unreachable),
            (200, "application/json", "{}", .unreachable), (204, "text/plain", "", .unreachable),
            (200, "application/json", "{}\n", .unreachable), (200, "application/json", "[]\n", .unreachable),
            (200, "application/json", "{\"key\":1}\n", .unreachable),
            (200, "application/octet-stream", "\u{1}\u{2}", .unreachable), (400, "text/html", "Bad", .unreachable),
            (405, "text/plain", "No", .unreachable), (409, "text/plain", "No", .unreachable),
            (412, "text/plain", "", .unreachable), (422, "text/plain", "", .unreachable),
            (501, "text/plain", "", .unreachable), (503, "text/html", "Later", .unreachable),
            (401, "text/html", "Who?", .unauthorized), (403, "text/html", "No", .unreachable),
            (413, "text/html", "Large", .tooLarge),
        ])
    func otherAnswers(status: Int, type: String, body: String, code: StorageError.Code) async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        var options = RemoteStorageOptions()
        options.retryPolicy.maximumAttempts = 1
        let remote = try await RemoteStorageEngine(
            connecting: server.url, collection: "notes", options: options,
            transport: OtherTransport(status: status, type: type, body: body, server: server.url))
        let key = CacheKey("k")
        let calls: [(String, () async throws -> Void)] = [
            ("write", { try await remote.write(Data("1".utf8), key: key) }),
            ("remove", { try await remote.remove(key: key) }),
            ("fetch", { _ = try await remote.fetch(key: key) }),
            ("fetchStream", { _ = try await remote.fetchStream(key: key)?.data() }),
            ("fetchAll", { _ = try await remote.fetchAll() }),
            ("fetchCount", { _ = try await remote.fetchCount() }),
            ("fetchCursor", { _ = try await remote.log?.fetchCursor() }),
            ("fence", { _ = try await remote.server.fence(UUID()) }),
        ]
        for (name, call) in calls {
            let failure = await #expect(throws: StorageError.self, "\(name)") { try await call() }
            #expect(failure?.code == code, "\(name): \(failure?.description ?? "")")
        }
    }

    @Test("A server that is gone is reported, and followers go on when it is back")
    func restart() async throws {
        let engine = MemoryStorageEngine()
        let server = try await TestServer(["notes": engine])
        let remote = try await server.engine()
        var signals = try #require(remote.log).changeSignals(excluding: nil).makeAsyncIterator()
        await signals.next()
        let cursor = try await remote.fetchCursor()
        await server.stop()
        let error = await #expect(throws: StorageError.self) {
            try await remote.write(Data("1".utf8), key: CacheKey("a"))
        }
        #expect(error?.code == .unreachable)
        await #expect(throws: StorageError.self) { try await remote.fetchAll() }
        try await engine.write(Data("2".utf8), key: CacheKey("b"))
        let again = try await TestServer(port: server.port, ["notes": engine])
        var delta: StorageDelta?
        repeat {
            await signals.next()
            // The server may not be reached yet.
            delta = try? await remote.fetchChanges(since: cursor, excluding: nil)
        } while delta?.changes.isEmpty ?? true
        #expect(delta?.changes.map(\.key) == [CacheKey("b")])
        await again.stop()
    }

    @Test("Single items follow RFC 9110: tags, conditions, ranges")
    func items() async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        let address = "\(server.url)/v1/collections/notes/items/a%2Fb"
        func send(
            _ method: String, body: String? = nil, _ headers: [(String, String)] = []
        ) async throws -> (status: UInt, tag: String?, range: String?, body: String) {
            var request = HTTPClientRequest(url: address)
            request.method = .init(rawValue: method)
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            if let body { request.body = .bytes(ByteBuffer(string: body)) }
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            return (
                response.status.code, response.headers.first(name: "ETag"),
                response.headers.first(name: "Content-Range"),
                String(buffer: try await response.body.collect(upTo: 1 << 20))
            )
        }
        #expect(try await send("GET").status == 404)
        #expect(try await send("PUT", body: "0123456789", [("If-Match", "*")]).status == 412)
        let created = try await send("PUT", body: "0123456789", [("If-None-Match", "*")])
        #expect(created.status == 204)
        #expect(try await send("PUT", body: "other", [("If-None-Match", "*")]).status == 412)
        let tag = try #require(created.tag)
        let read = try await send("GET")
        #expect(read.status == 200 && read.tag == tag && read.body == "0123456789")
        let head = try await send("HEAD")
        #expect(head.status == 200 && head.tag == tag && head.body.isEmpty)
        #expect(try await send("GET", [("If-None-Match", "\"x\", \(tag)")]).status == 304)
        #expect(try await send("GET", [("If-Match", "\"x\"")]).status == 412)
        for (range, expected) in [
            ("bytes=0-0", "0"), ("bytes=2-4", "234"), ("bytes=7-", "789"), ("bytes=-3", "789"), ("bytes=5-99", "56789"),
            ("bytes=-99", "0123456789"), ("bytes=0-9223372036854775807", "0123456789"),
            ("bytes=8-99999999999999999999", "89"), ("bytes=-99999999999999999999", "0123456789"),
        ] {
            let part = try await send("GET", [("Range", range)])
            #expect(part.status == 206 && part.body == expected, "\(range)")
            let start = "0123456789".range(of: expected)!.lowerBound.utf16Offset(in: "0123456789")
            #expect(part.range == "bytes \(start)-\(start + expected.count - 1)/10", "\(range)")
        }
        for range in ["bytes=10-", "bytes=-0", "bytes=99999999999999999999-"] {
            #expect(try await send("GET", [("Range", range)]).status == 416)
        }
        for range in [
            "bytes=4-2", "bytes=a-b", "lines=1-2", "bytes=0-1,3-4", "bytes=-", "bytes=--1",
        ] {
            let all = try await send("GET", [("Range", range)])
            #expect(all.status == 200 && all.body == "0123456789", "\(range)")
        }
        #expect(try await send("GET", [("Range", "bytes=0-0"), ("If-Range", "\"x\"")]).status == 200)
        #expect(try await send("DELETE", [("If-Match", "\"x\"")]).status == 412)
        #expect(try await send("DELETE", [("If-Match", tag)]).status == 204)
        #expect(try await send("GET").status == 404)
        #expect(try await send("DELETE").status == 204)
    }

    @Test(
        "Requests that are no messages are refused as problems",
        arguments: [
            ("scan", ""), ("scan", "[]"), ("scan", "{"), ("scan", #"{"scans":[{"all":1}]}"#),
            ("scan", #"{"scans":[{"range":{"index":{"members":[]},"from":"start","to":"end"}}]}"#),
            (
                "scan",
                #"{"scans":[{"range":{"index":{"members":[{"path":"a"}]},"equal":[1],"from":"start","to":"end"}}]}"#
            ),
            ("scan", #"{"counted":[{"all":{}}],"countLimit":-5,"scans":[]}"#),
            ("scan", #"{"fields":["everything"]}"#), ("scan", #"{"countLimit":"1"}"#), ("fetch", "{}"),
            ("fetch", #"{"keys":[{"key":"a","kind":"b"}]}"#), ("fetch", #"{"keys":[{"key":"\ud800"}]}"#),
            ("changes", "{}"), ("indexes", #"{"search":[]}"#),
            (
                "scan",
                #"{"scans":[{"search":{"index":{"search":["a"]},"expression":"#
                    + String(repeating: #"{"not":"#, count: 5_000) + "{}"
                    + String(repeating: "}", count: 5_000) + "}}]}"
            ),
        ])
    func malformed(_ path: String, _ body: String) async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/\(path)")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let problem = try JSONDecoder().decode(
            Problem.self, from: Data(try await response.body.collect(upTo: 1 << 20).readableBytesView))
        #expect(response.status == .badRequest)
        #expect(response.headers.first(name: "Content-Type") == "application/problem+json")
        #expect(problem.code == "invalidArgument" && problem.status == 400)
    }

    private struct Problem: Decodable {
        let code: String
        let status: Int
    }
}
