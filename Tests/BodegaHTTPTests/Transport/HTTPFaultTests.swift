import Bodega
import BodegaHTTP
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Servers that fail, stall, or send what no client should trust.
@Suite struct HTTPFaultTests {
    private static let secret = "s3cret-token"

    private func engine(
        _ path: String, _ query: [String: String] = [:], on server: APIServer? = nil,
        _ change: (inout HTTPStorageOptions) -> Void = { _ in }
    ) async throws -> HTTPStorageEngine {
        var options = HTTPStorageOptions()
        change(&options)
        var place = server
        if place == nil { place = try await APIServer.shared.value }
        return try HTTPStorageEngine(try #require(place).url(path, query), options: options) {
            ["Authorization": "Bearer \(Self.secret)"]
        }
    }

    /// The error of a call, which is a `StorageError` without the secret.
    private func error(_ body: () async throws -> some Any) async -> StorageError? {
        let error = await #expect(throws: StorageError.self) { _ = try await body() }
        #expect(error.map { "\($0)\(String(reflecting: $0))".contains(Self.secret) } == false)
        return error
    }

    // MARK: Statuses

    @Test(arguments: [
        (301, StorageError.Code.cannotOpen), (304, .decodingFailed), (400, .refused), (401, .unauthorized),
        (403, .permissionDenied), (405, .refused), (408, .timedOut), (409, .refused), (412, .refused),
        (413, .tooLarge), (422, .refused), (429, .unreachable), (500, .unreachable), (501, .refused),
        (503, .unreachable), (507, .storageFull),
    ])
    func `A status has a code`(_ status: Int, _ code: StorageError.Code) async throws {
        let engine = try await engine("fault", ["status": "\(status)", "after": "7"])
        // The identifier is the kind of fault.
        let key = CacheKey("status")
        let write = StorageOperation.write(key: key, data: Data(#"{"id": "status"}"#.utf8))
        let errors = [
            await error { try await engine.fetch(key: key) }, await error { try await engine.apply([write]) },
            await error { try await engine.remove(key: key) }, await error { try await engine.fetchKeys(among: [key]) },
            await error { try await engine.fetchDates(key: key) },
        ]
        for error in errors {
            #expect(error?.code == code)
            #expect(error?.key == key)
            #expect((error?.cause as? HTTPStatusError)?.status == status)
            #expect((error?.cause as? HTTPStatusError)?.retryAfter == .seconds(7))
        }
        let all = try await self.engine("fault/status", ["status": "\(status)"])
        #expect(await error { try await all.fetchAll() }?.code == code)
        #expect(await error { try await all.removeAllData() }?.code == code)
    }

    @Test func `An absent item is absent, and an absent collection is an error`() async throws {
        let engine = try await engine("fault", ["status": "404"])
        let key = CacheKey("status")
        #expect(try await engine.fetch(key: key) == nil)
        #expect(try await engine.fetchDates(key: key) == nil)
        try await engine.remove(key: key)
        let item = Data(#"{"id": "status"}"#.utf8)
        #expect(await error { try await engine.write(item, key: key) }?.code == .cannotOpen)
        let absent = try await self.engine("fault/status", ["status": "404"])
        #expect(await error { try await absent.fetchAll() }?.code == .cannotOpen)
        // A proxy has changed the form of the content.
        let changed = Transport { _ in HTTPStorageResponse(status: 203, body: Data(#"[{"id": "1"}]"#.utf8)) }
        let url = try #require(URL(string: "http://localhost/notes"))
        #expect(try await HTTPStorageEngine(url, transport: changed).fetchKeys() == [CacheKey("1")])
        // A success without the content is none.
        let empty = try await self.engine("fault/status", ["status": "204"])
        #expect(await error { try await empty.fetchAll() }?.code == .decodingFailed)
    }

    // MARK: Stalls

    @Test(arguments: ["silent", "half"])
    func `A server that stalls exceeds the time limit`(_ fault: String) async throws {
        let engine = try await engine("fault/\(fault)") { $0.timeLimit = .milliseconds(300) }
        #expect(await error { try await engine.fetchAll() }?.code == .timedOut)
    }

    @Test(arguments: HTTPClientKind.allCases)
    func `A response that drips has an end`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        let request = try server.request("fault/drip", timeLimit: .seconds(1))
        let error = await error { try await kind.transport().send(request) }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("bytes a second") == true)
    }

    @Test(arguments: HTTPClientKind.allCases)
    func `A large body has the time that it needs`(_ kind: HTTPClientKind) async throws {
        let server = try await APIServer.shared.value
        // The server reads 2.5 MiB a second, so this takes more than twice as long as the limit.
        var request = try server.request("fault/sip", method: .put, timeLimit: .seconds(3))
        request.body = Data(repeating: UInt8(ascii: "1"), count: 20 << 20)
        let start = ContinuousClock.now
        #expect(try await kind.transport().send(request).status == 204)
        #expect(start.duration(to: .now) > .seconds(3))
    }

    @Test func `A stopped server exceeds the time limit, and works when it is resumed`() async throws {
        let server = try await APIServer()
        let engine = try await engine("items/notes", on: server) { $0.timeLimit = .milliseconds(500) }
        let item = Data(#"{"id": "1"}"#.utf8)
        // This connection is reused.
        try await self.engine("items/notes", on: server).write(item, key: CacheKey("1"))
        server.pause()
        // Its threads may run a little longer.
        try await waitUntil("the server stopped") {
            do {
                _ = try await engine.fetchAll()
                return false
            } catch let error as StorageError where error.code == .timedOut {
                return true
            }
        }
        let other = Data(#"{"id": "2"}"#.utf8)
        let unknown = await error { try await engine.write(other, key: CacheKey("2")) }
        #expect(unknown?.code == .timedOut)
        #expect(unknown?.message.contains("may have applied") == true)
        server.resume()
        #expect(try await self.engine("items/notes", on: server).fetch(key: CacheKey("1")) == item)
    }

    @Test func `Half a body is an error`() async throws {
        let engine = try await engine("fault/half", ["close": "1"])
        #expect(await error { try await engine.fetchAll() }?.code == .unreachable)
    }

    @Test func `A server that does not run is unreachable`() async throws {
        let server = try await APIServer()
        let engine = try await engine("items/notes", on: server)
        #expect(try await engine.fetchAll().isEmpty)
        try await server.end()
        #expect(await error { try await engine.fetchAll() }?.code == .unreachable)
        #expect(await error { try await engine.fetch(key: CacheKey("1")) }?.code == .unreachable)
        #expect(await error { try await engine.remove(key: CacheKey("1")) }?.code == .unreachable)
        let another = try await APIServer(port: server.port)
        #expect(another.port == server.port)
        #expect(try await engine.fetchAll().isEmpty)
    }

    @Test func `A cancelled call ends while the server stalls`() async throws {
        let mark = UUID().uuidString
        let engine = try await engine("fault/silent", ["mark": mark])
        let server = try await APIServer.shared.value
        let task = Task { try await engine.fetchAll() }
        try await waitUntil("the request arrived") { try await !server.requests(containing: mark).isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await engine.fetchAll()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await server.requests(containing: mark).count == 1)
    }

    @Test func `A hundred concurrent calls succeed`() async throws {
        let engine = try await engine("items/\(UUID().uuidString)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let item = Data(#"{"id": \#(number)}"#.utf8)
                    try await engine.write(item, key: CacheKey("\(number)"))
                    #expect(try await engine.fetch(key: CacheKey("\(number)")) == item)
                }
            }
            try await group.waitForAll()
        }
        let keys = (0..<100).map { CacheKey("\($0)") }
        #expect(Set(try await engine.fetchKeys()) == Set(keys))
        #expect(try await engine.fetch(keys: keys + [CacheKey("absent"), keys[3]]).map(\.key) == keys + [keys[3]])
        #expect(try await engine.fetchKeys(among: keys.reversed() + [CacheKey("absent")]) == keys.reversed())
    }

    // MARK: Sizes

    @Test(arguments: ["endless", "gzip"])
    func `A body that is too large is an error before it has arrived`(_ fault: String) async throws {
        let engine = try await engine("fault/\(fault)", ["MiB": "200"]) {
            $0.maximumResponseBytes = 1 << 20
        }
        #expect(await error { try await engine.fetchAll() }?.code == .tooLarge)
    }

    @Test func `A body of exactly the limit is read`() async throws {
        let body = Data(#"[{"id": "1"}]"#.utf8)
        for (limit, code) in [(body.count, nil), (body.count - 1, StorageError.Code.tooLarge)] {
            let engine = try await served(body) { $0.maximumResponseBytes = limit }
            if let code {
                #expect(await error { try await engine.fetchAll() }?.code == code)
            } else {
                #expect(try await engine.fetchCount() == 1)
            }
        }
        #expect(try await engine("fault/gzip").fetchAllData() == [Data(#"{"id": "1"}"#.utf8)])
    }

    // MARK: Bodies

    private func served(
        _ body: Data, _ change: (inout HTTPStorageOptions) -> Void = { _ in }
    ) async throws -> HTTPStorageEngine {
        let hexadecimal = body.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return try await engine("fault/body", ["hex": hexadecimal], change)
    }

    @Test(arguments: [
        "", " ", "[", "<html></html>", "{}", "null", "[1]", "[[]]", #"[{"x": 1}]"#, #"[{"id": null}]"#,
        #"[{"id": 1.5}]"#,
        #"[{"id": 1e2}]"#, #"[{"id": {"id": "1"}}]"#, #"[{"id": "1"}, {"id": "1"}]"#,
        #"[{"id": "a"}, {"id": "\u0061"}]"#,
        #"[{"id": 1}, {"id": "1"}]"#, #"[{"id": "1", "id": "2"}]"#, #"[{"id": "1", "\u0069d": "2"}]"#, #"[{"id": ""}]"#,
        #"[{"id": "\ud800"}]"#, #"[{"id": "1"}"#, #"[{"id": "1"}] x"#, #"[{"id": "1"},]"#, "[{'id': 1}]",
    ])
    func `A response that is not the items is an error, not an empty collection`(_ body: String) async throws {
        let engine = try await served(Data(body.utf8))
        #expect(await error { try await engine.fetchAll() }?.code == .decodingFailed)
        #expect(await error { try await engine.fetchKeys() }?.code == .decodingFailed)
        #expect(await error { try await engine.removeAllData() }?.code == .decodingFailed)
    }

    @Test func `Items are the bytes that the server has sent`() async throws {
        let objects = [
            #"{ "\u0069d" : "\u0061" , "x":[{"id":1}]}"#, #"{"id":-7,"id2":1}"#, #"{"id":"ä"}"#,
            #"{"ID":0,"id":"%2F"}"#,
        ]
        let body = Data("\u{FEFF} [ \(objects.joined(separator: " , \n")) ] \n".utf8)
        let items = try await served(body).fetchAll()
        #expect(items.map(\.key) == ["a", "-7", "ä", "%2F"].map { CacheKey($0) })
        #expect(items.map(\.data) == objects.map { Data($0.utf8) })
        // Two encodings of one letter are two items.
        #expect(try await served(Data("[{\"id\":\"\u{E9}\"},{\"id\":\"e\u{301}\"}]".utf8)).fetchCount() == 2)
        var path = try await served(Data(#"{"items": [1], "a": {"items": [{"key": "1"}]}}"#.utf8)) {
            ($0.itemsPath, $0.idMember) = (["a", "items"], "key")
        }
        #expect(try await path.fetchKeys() == [CacheKey("1")])
        path = try await served(Data(#"{"a": [{"id": "1"}]}"#.utf8)) { $0.itemsPath = ["a", "items"] }
        #expect(await error { try await path.fetchAll() }?.code == .decodingFailed)
    }

    @Test(arguments: [#"{"id": "other"}"#, #"[{"id": "cookie"}]"#, "{}", ""])
    func `A response that is another item is an error`(_ body: String) async throws {
        let transport = Transport { _ in HTTPStorageResponse(status: 200, body: Data(body.utf8)) }
        let engine = try HTTPStorageEngine(try #require(URL(string: "http://localhost/notes")), transport: transport)
        let error = await error { try await engine.fetch(key: CacheKey("1")) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.key == CacheKey("1"))
    }

    // MARK: Pages, redirects and cookies

    @Test func `Pages that form a circle are an error, as are too many`() async throws {
        let circle = try await engine("fault/link", ["link": "<?link=%3C%3E%3B%20rel%3Dnext>; rel=next"])
        #expect(await error { try await circle.fetchAll() }?.code == .decodingFailed)
        let url = try #require(URL(string: "http://localhost/notes"))
        let number = Locked(0)
        let endless = Transport { _ in
            let next = number.withLock { number in
                number += 1
                return number
            }
            return HTTPStorageResponse(
                status: 200, headers: ["link": "</notes?page=\(next)>; rel=next"],
                body: Data(#"[{"id": \#(next)}]"#.utf8))
        }
        var options = HTTPStorageOptions()
        options.maximumPages = 20
        let engine = try HTTPStorageEngine(url, options: options, transport: endless)
        #expect(await error { try await engine.fetchAll() }?.code == .decodingFailed)
        #expect(number.withLock { $0 } == 20)
    }

    @Test func `Neither a page nor a redirect on another server receives the headers`() async throws {
        let other = try await APIServer()
        let target = try other.url("items/stolen").absoluteString
        for link in ["<\(target)>; rel=next", "<//127.0.0.1:\(other.port)/items/stolen>; rel=\"prev next\""] {
            let engine = try await engine("fault/link", ["link": link])
            #expect(await error { try await engine.fetchAll() }?.code == .decodingFailed)
        }
        for status in ["301", "302", "303", "307", "308"] {
            let engine = try await engine("fault/redirect", ["to": target + "?token=\(Self.secret)", "status": status])
            #expect(await error { try await engine.fetchAll() }?.code == .cannotOpen)
        }
        // Nor is a redirect on the same server followed, as a write would become a read.
        let own = try await engine("fault/redirect", ["to": "/items/notes"])
        #expect(await error { try await own.fetchAll() }?.code == .cannotOpen)
        #expect(try await other.requests(containing: "stolen").isEmpty)
    }

    @Test func `Cookies are not sent back`() async throws {
        let mark = UUID().uuidString
        let engine = try await engine("fault/cookie", ["mark": mark])
        for _ in 1...2 { #expect(try await engine.fetchAll().isEmpty) }
        let requests = try await APIServer.shared.value.requests(containing: mark)
        #expect(requests.count == 2)
        for request in requests {
            #expect(request.headers["Cookie"] == nil)
            #expect(request.headers["Authorization"] == "Bearer \(Self.secret)")
            #expect(request.headers["Accept"] == "application/json")
        }
    }

    // MARK: Writing

    @Test func `A batch that fails reports how much of it was applied`() async throws {
        let failing = Transport { request in
            HTTPStorageResponse(status: request.url.path.hasSuffix("/2") ? 409 : 204)
        }
        let engine = try HTTPStorageEngine(try #require(URL(string: "http://localhost/notes")), transport: failing)
        let error = await error { try await engine.remove(keys: (0..<5).map { CacheKey("\($0)") }) }
        #expect(error?.code == .refused)
        #expect(error?.key == CacheKey("2"))
        #expect(error?.message.contains("Of 5 operations, the first 2 were applied") == true)
    }

    @Test func `Retrying helps against a server that is overloaded`() async throws {
        let attempts = Locked(0)
        let overloaded = Transport { _ in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            if attempt < 3 { return HTTPStorageResponse(status: 503, headers: ["retry-after": "1"]) }
            return HTTPStorageResponse(status: 200, body: Data("[]".utf8))
        }
        var policy = StorageRetryPolicy()
        policy.baseDelay = .zero
        let engine = try HTTPStorageEngine(try #require(URL(string: "http://localhost/notes")), transport: overloaded)
            .retrying(policy)
        #expect(try await engine.fetchAll().isEmpty)
        #expect(attempts.withLock { $0 } == 3)
    }

    @Test func `The errors and the excess of a transport become errors of storage`() async throws {
        struct Broken: Error {}
        let url = try #require(URL(string: "http://localhost/notes?key=\(Self.secret)"))
        var options = HTTPStorageOptions()
        options.maximumResponseBytes = 10
        let broken = try HTTPStorageEngine(url, options: options, transport: Transport { _ in throw Broken() })
        #expect(await error { try await broken.fetchAll() }?.code == .unreachable)
        let large = Transport { _ in HTTPStorageResponse(status: 200, body: Data(repeating: 32, count: 11)) }
        #expect(
            await error { try await HTTPStorageEngine(url, options: options, transport: large).fetchAll() }?.code
                == .tooLarge)
    }
}

/// A transport that is a closure.
struct Transport: HTTPStorageTransport {
    let body: @Sendable (HTTPStorageRequest) async throws -> HTTPStorageResponse

    init(_ body: @escaping @Sendable (HTTPStorageRequest) async throws -> HTTPStorageResponse) {
        self.body = body
    }

    func send(_ request: HTTPStorageRequest) async throws -> HTTPStorageResponse { try await body(request) }
}
