import AsyncHTTPClient
import Bodega
import BodegaServer
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("Requests that a server refuses")
struct RefusedRequestTests {

    private func send(
        _ server: TestServer, _ path: String, _ body: String? = nil, _ method: HTTPMethod = .POST,
        token: String? = nil
    ) async throws -> (status: UInt, body: String) {
        var request = HTTPClientRequest(url: "\(server.url)/v1/\(path)")
        request.method = method
        request.headers.add(name: "Content-Type", value: "application/json")
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return (response.status.code, String(buffer: try await response.body.collect(upTo: 1 << 20)))
    }

    @Test("have too many batches or dates, which would need much more memory than the request")
    func batches() async throws {
        let database = MemoryStorageEngine()
        var limits = StorageServerLimits()
        limits.operations = 10
        let server = try await TestServer(
            limits: limits, StorageCollections { database.collection(named: $0) })
        for (count, status) in [(100, 200), (101, 413)] as [(Int, UInt)] {
            let batches = (0..<count).map { #"{"collection":"c\#($0)","operations":[]}"# }
            let body = #"{"batches":[\#(batches.joined(separator: ","))]}"#
            #expect(try await send(server, "batch", body).status == status)
        }
        for (count, status) in [(10, 200), (11, 413)] as [(Int, UInt)] {
            let dates = (0..<count).map { #"{"key":"k\#($0)","created":1,"updated":2}"# }.joined(separator: ",")
            let body = #"{"batches":[{"collection":"a","operations":[],"dates":[\#(dates)]}]}"#
            #expect(try await send(server, "batch", body).status == status)
        }
    }

    @Test(
        "have a member with a wrong name, without which they would do something else",
        arguments: [
            ("collections/notes/scan", #"{"limit":2}"#, "limit"),
            ("collections/notes/scan", #"{"scans":[{"all":{"from":2}}]}"#, "from"),
            ("collections/notes/scan", #"{"scans":[{"irregular":{"index":{"path":"a"},"to":1}}]}"#, "to"),
            ("collections/notes/fetch", #"{"keys":[],"field":["dates"]}"#, "field"),
            ("collections/notes/fetch", #"{"keys":[{"key":"a","knd":"url"}]}"#, "knd"),
            ("collections/notes/indexes", #"{"members":[{"path":"a"}],"constant":["b"]}"#, "constant"),
            ("collections/notes/indexes", #"{"members":[{"path":"a","isText":false}]}"#, "isText"),
            ("collections/notes/indexes", #"{"search":["a"],"from":"words"}"#, "from"),
            ("collections/notes/changes", #"{"since":"0","item":true}"#, "item"),
            ("changes", #"{"collections":[{"collection":"notes","since":"0","item":true}]}"#, "item"),
            ("changes", #"{"collections":[],"since":"0"}"#, "since"),
            ("batch", #"{"batches":[],"if":[]}"#, "if"),
            (
                "batch", #"{"batches":[{"collection":"notes","operations":[{"removesAll":true}],"if":[]}]}"#,
                "if"
            ),
            (
                "batch",
                #"{"batches":[{"collection":"notes","operations":[],"conditions":[{"key":"b","vaule":1}]}]}"#,
                "vaule"
            ),
            (
                "batch",
                #"{"batches":[{"collection":"notes","operations":[{"key":"a","value":2,"expires":1}]}]}"#, "expires"
            ),
            (
                "batch", #"{"batches":[{"collection":"notes","operations":[{"removesAll":true,"key":"b"}]}]}"#, "key"
            ),
            (
                "batch", #"{"batches":[{"collection":"notes","operations":[{"key":"a","value":7,"removed":true}]}]}"#,
                "value"
            ),
        ])
    func members(_ path: String, _ body: String, _ name: String) async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(Data("1".utf8), key: CacheKey(verbatim: "a"))
        let server = try await TestServer(["notes": engine])
        let answer = try await send(server, path, body)
        #expect(answer.status == 400 && answer.body.contains(#"\"\#(name)\" in the message"#), "\(answer)")
        #expect(try await engine.fetchAllData() == [Data("1".utf8)])
    }

    @Test(
        "name a member by a path that is empty, or ends within a character",
        arguments: [
            (.POST, "indexes", #"{"members":[{"path":"PATH"}]}"#), (.POST, "indexes", #"{"search":["a","PATH"]}"#),
            (.POST, "scan", #"{"scans":[{"irregular":{"index":{"members":[{"path":"PATH"}]}}}]}"#),
            (.POST, "query", #"{"order":[{"path":"PATH"}]}"#),
            (.PUT, "references", #"[{"path":"PATH","target":"notes","onRemoval":"keep"}]"#),
            (.PUT, "references", #"[{"path":"a","target":"notes","targetPath":"PATH","onRemoval":"keep"}]"#),
        ] as [(HTTPMethod, String, String)])
    func paths(_ method: HTTPMethod, _ place: String, _ body: String) async throws {
        let engine = MemoryStorageEngine()
        let server = try await TestServer(["notes": engine])
        for path in ["", #"\\"#, #"a.b\\"#] {
            let body = body.replacingOccurrences(of: "PATH", with: path)
            let answer = try await send(server, "collections/notes/\(place)", body, method)
            #expect(answer.status == 400 && answer.body.contains("is not the path of a member"), "\(answer)")
        }
        #expect(try await engine.fetchIndexes().isEmpty)
        #expect(try await engine.fetchReferences().isEmpty)
    }

    @Test("have a range of values and of none, of which an engine would read one", arguments: ["range", "approximate"])
    func range(_ kind: String) async throws {
        let engine = MemoryStorageEngine()
        try await engine.createIndex(StorageIndex("a"))
        let server = try await TestServer(["notes": engine])
        for (lower, upper, status) in [
            (#""start""#, #""end""#, 400), (#"{"after":1}"#, #""end""#, 400), (#""start""#, #"{"before":null}"#, 200),
            (#"{"before":null}"#, #""end""#, 200),
        ] as [(String, String, UInt)] {
            let scan = #"{"\#(kind)":{"index":{"members":[{"path":"a"}]},"from":\#(lower),"to":\#(upper)}}"#
            #expect(try await send(server, "collections/notes/scan", #"{"scans":[\#(scan)]}"#).status == status)
        }
    }

    @Test("have an operation that says of itself that it is none", arguments: ["removed", "removesAll"])
    func falseOperation(_ name: String) async throws {
        let engine = MemoryStorageEngine()
        let server = try await TestServer(["notes": engine])
        let key = name == "removed" ? #""key":"a","# : ""
        let body = #"{"batches":[{"collection":"notes","operations":[{\#(key)"\#(name)":false}]}]}"#
        #expect(try await send(server, "batch", body).status == 400)
    }

    @Test(
        "have an empty part in their address, without which it is that of another item",
        arguments: [
            "/v1/collections/notes/items/a/", "/v1/collections/notes/items/a//", "//v1//collections/notes/items/a",
            "/v1/collections/notes//items/a",
        ])
    func emptyParts(_ path: String) async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(Data("1".utf8), key: CacheKey(verbatim: "a"))
        let server = try await TestServer(["notes": engine])
        let connection = try RawConnection(port: server.port)
        connection.send("DELETE \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await connection.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 404"))
        #expect(try await engine.fetchAllData() == [Data("1".utf8)])
    }

    @Test("have an address that is unknown", arguments: ["", "nothing", "collections/notes/items/"])
    func unknownAddress(_ path: String) async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        for method in [HTTPMethod.GET, .DELETE] {
            let answer = try await send(server, path, nil, method)
            #expect(answer.status == 404 && answer.body.contains(#""code":"notFound""#), "\(answer)")
        }
    }

    @Test("are queries that take too long")
    func time() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(Data(#"{"a":1}"#.utf8), key: CacheKey("a"))
        var limits = StorageServerLimits()
        limits.querySeconds = 0
        let server = try await TestServer(limits: limits, ["notes": engine])
        let answer = try await send(server, "collections/notes/query", #"{"filter":"@.a == 1"}"#)
        #expect(answer.status == 413 && answer.body.contains("tooLarge"), "\(answer)")
    }

    /// Of one item, so that it is no matter what comes after it.
    @Test("are queries whose regular expression takes too long for a text")
    func timeOfExpression() async throws {
        let engine = MemoryStorageEngine()
        let text = String(repeating: "a", count: 4 << 20)
        try await engine.write(Data(#"{"a":"\#(text)"}"#.utf8), key: CacheKey("a"))
        var limits = StorageServerLimits()
        limits.querySeconds = 0.2
        let server = try await TestServer(limits: limits, ["notes": engine])
        let filter = #"{"filter":"search(@.a, \"(a{0,30}){0,30}b\")","count":true}"#
        let answer = try await send(server, "collections/notes/query", filter)
        #expect(answer.status == 413 && answer.body.contains("tooLarge"), "\(answer)")
    }

    @Test(
        "have an address that is not percent-encoded, or would put events into a stream",
        arguments: [
            "items/%+4", "items/%-4", "items/%4", "items/%", "items/%C3", "items/%0g",
            "events?since=x%0A%0Aevent:%20changes%0Adata:%20%5B%5D%0A%0A",
        ])
    func address(_ path: String) async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        let connection = try RawConnection(port: server.port)
        connection.send("GET /v1/collections/notes/\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await connection.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 400"))
    }

    @Test(
        "have no host, or several",
        arguments: ["", "Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nhost: example.com\r\n"])
    func hosts(_ headers: String) async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        let connection = try RawConnection(port: server.port)
        connection.send("GET /v1/collections/notes HTTP/1.1\r\n\(headers)\r\n")
        #expect(await connection.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 400"))
        let other = try RawConnection(port: server.port)
        other.send("GET /v1/collections/notes HTTP/1.1\r\nHOST: localhost\r\n\r\n")
        #expect(await other.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
    }

    @Test("would remove an item that a hidden one names, without naming that one")
    func references() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let database = try SQLiteStorageEngine(openingFile: folder.appendingPathComponent("notes.db"))
        let notes = try database.collection(named: "notes")
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let server = try await TestServer(access: tokens, ["notes": notes])
        let all = try await tokens.create(
            name: "all", grants: [AccessGrant(rights: [.read, .write, .manage])]
        ).token
        let ada = try await tokens.create(
            name: "Ada", grants: [AccessGrant(matching: #"@.owner == "ada""#)]
        ).token
        let writer = try await tokens.create(name: "Writer", grants: [AccessGrant(rights: [.write])]).token
        let declared = try await send(
            server, "collections/notes/references", #"[{"path":"parent","target":"notes","onRemoval":"refuse"}]"#,
            .PUT, token: all)
        #expect(declared.status == 204)
        for (key, item) in [
            ("own", #"{"id":"own","owner":"ada"}"#), ("hidden", #"{"id":"hidden","owner":"bob","parent":"own"}"#),
        ] {
            #expect(try await send(server, "collections/notes/items/\(key)", item, .PUT, token: all).status == 204)
        }
        let refused = try await send(server, "collections/notes/items/own", nil, .DELETE, token: ada)
        #expect(refused.status == 409 && refused.body.contains("referenced"), "\(refused)")
        #expect(!refused.body.contains("hidden") && !refused.body.contains("parent"), "\(refused)")
        #expect(try await send(server, "collections/notes/references", nil, .GET, token: writer).status == 403)
    }

    /// An engine whose database can't be reached.
    private struct Lost: ForwardingStorageEngine {
        let base: any StorageBackend

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> { throw StorageError(.unreachable, "The database is gone.") }
    }

    @Test("say when to send them again, if the database can't be reached")
    func retryAfter() async throws {
        let server = try await TestServer(["notes": Lost(base: MemoryStorageEngine())])
        let request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/items/a")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        #expect(response.status == .serviceUnavailable)
        let seconds = response.headers.first(name: "Retry-After").flatMap { Int($0) }
        #expect(try #require(seconds) >= 1)
    }
}
