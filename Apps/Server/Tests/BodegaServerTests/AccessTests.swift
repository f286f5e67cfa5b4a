import AsyncHTTPClient
import Bodega
import BodegaRemote
import BodegaServer
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("Access to a server")
struct AccessTests {
    private let database = MemoryStorageEngine()
    private let tokens: AccessTokens

    init() { tokens = AccessTokens(storage: database.collection(named: "tokens")) }

    private func server(limits: StorageServerLimits = .init()) async throws -> TestServer {
        try await TestServer(
            access: tokens, limits: limits, ["notes": database, "folders": database.collection(named: "folders")])
    }

    private func token(_ rights: Set<AccessGrant.Right>, expiresAt: Date? = nil) async throws -> (
        token: String, id: String
    ) {
        let made = try await tokens.create(
            name: "test", grants: [AccessGrant(collection: "notes", rights: rights)], expiresAt: expiresAt)
        return (made.token, made.stored.id)
    }

    private func code(_ body: () async throws -> Void) async -> StorageError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    @Test("takes a valid token")
    func needsToken() async throws {
        let server = try await server()
        let (valid, id) = try await token([.read])
        let others = [
            nil, "", valid + "0", String(valid.dropLast()), "emporium_\(id)_", "emporium_\(id)", id,
            valid.replacingOccurrences(of: "emporium", with: "Emporium"), "emporium__" + valid.suffix(64),
        ]
        for other in others {
            #expect(await code { _ = try await server.engine(token: other) } == .unauthorized)
        }
        #expect(try await server.engine(token: valid).fetchCount() == 0)
        let expired = try await token([.read], expiresAt: Date(timeIntervalSinceNow: -1))
        #expect(await code { _ = try await server.engine(token: expired.token) } == .unauthorized)
    }

    @Test("is given to one collection with certain rights")
    func rights() async throws {
        let server = try await server()
        let (reading, writing) = (try await token([.read]).token, try await token([.write]).token)
        #expect(await code { _ = try await server.engine("folders", token: reading) } == .cannotOpen)
        #expect(await code { _ = try await server.engine("tokens", token: reading) } == .cannotOpen)
        let reader = try await server.engine(token: reading)
        let key = CacheKey("a")
        #expect(await code { try await reader.write(Data("1".utf8), key: key) } == .permissionDenied)
        #expect(reader.log == nil)
        for (route, method) in [("cursor", HTTPMethod.GET), ("events", .GET), ("changes", .POST)] {
            var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/\(route)")
            request.headers.add(name: "Authorization", value: "Bearer \(reading)")
            request.method = method
            if method == .POST {
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(Data(#"{"since": "0"}"#.utf8))
            }
            #expect(try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status == .forbidden)
        }
        #expect(await code { try await reader.createIndex(StorageIndex("id")) } == .permissionDenied)
        let writer = try await server.engine(token: writing)
        try await writer.write(Data("1".utf8), key: key)
        #expect(await code { _ = try await writer.fetch(key: key) } == .permissionDenied)
        #expect(await code { _ = try await writer.fetchCount() } == .permissionDenied)
        #expect(try await reader.fetch(key: key) == Data("1".utf8))
    }

    @Test("ends with the revocation of a token, also for open streams")
    func revocation() async throws {
        let server = try await server()
        let (token, id) = try await token([.read, .observe])
        let engine = try await server.engine(token: token)
        let client = HTTPClient.shared
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/events")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        let response = try await client.execute(request, timeout: .seconds(60))
        #expect(response.status == .ok)
        var parts = response.body.makeAsyncIterator()
        let first = try await parts.next().map { String(buffer: $0) }
        #expect(first?.contains("event: begin") == true)
        try await tokens.revoke(id: id)
        // The stream ends, with any heartbeats before.
        while try await parts.next() != nil {}
        #expect(await code { _ = try await engine.fetchCount() } == .unauthorized)
    }

    /// Changes the grant of a token where it is stored.
    private func change(_ id: String, _ change: (inout [String: Any]) -> Void) async throws {
        let stored = database.collection(named: "tokens")
        let data = try #require(try await stored.fetch(key: CacheKey(verbatim: id)))
        var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        var grants = try #require(object["grants"] as? [[String: Any]])
        change(&grants[0])
        object["grants"] = grants
        try await stored.write(try JSONSerialization.data(withJSONObject: object), key: CacheKey(verbatim: id))
    }

    @Test("has the rights and the filter that a token has at the moment")
    func changedGrant() async throws {
        let server = try await server()
        let (token, id) = try await token([.read, .write, .observe])
        let engine = try await server.engine(token: token)
        let (own, foreign) = (CacheKey("own"), CacheKey("foreign"))
        try await engine.write(Data(#"{"o":"a"}"#.utf8), key: own)
        try await engine.write(Data(#"{"o":"b"}"#.utf8), key: foreign)
        #expect(try await engine.fetchCount() == 2)
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/events")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        var parts = response.body.makeAsyncIterator()
        #expect(try await parts.next().map { String(buffer: $0) }?.contains("event: begin") == true)

        try await change(id) { $0["filter"] = #"@.o == "a""# }
        // The stream with the former rights ends, with any heartbeats before.
        while let part = try await parts.next() { #expect(!String(buffer: part).contains("foreign")) }
        #expect(try await engine.fetch(key: foreign) == nil)
        #expect(try await engine.fetchCount() == 1)
        #expect(await code { try await engine.write(Data(#"{"o":"b"}"#.utf8), key: own) } == .permissionDenied)
        try await change(id) { ($0["filter"], $0["rights"]) = (nil, ["read"]) }
        // A change is signaled a moment after it. A token that was read is known for half a second at most.
        while try await engine.fetchCount() != 2 {}
        #expect(try await engine.fetch(key: foreign) != nil)
        #expect(await code { try await engine.write(Data("1".utf8), key: own) } == .permissionDenied)
        try await change(id) { $0["rights"] = ["write"] }
        while await code({ _ = try await server.engine(token: token).fetch(key: own) }) != .permissionDenied {}
        try await server.engine(token: token).write(Data("2".utf8), key: foreign)
        #expect(try await database.fetch(key: foreign) == Data("2".utf8))

        // Grants that are not valid change nothing.
        await #expect(throws: StorageError.self) {
            try await tokens.setGrants([AccessGrant(matching: "@.o ==")], ofTokenWithID: id)
        }
        #expect(try await tokens.all().first?.grants.first?.rights == [.write])
        #expect(try await tokens.setGrants([AccessGrant(collection: "notes")], ofTokenWithID: id)?.id == id)
        #expect(try await tokens.client(bearing: token)?.scopes["notes"]?.rights == [.read, .write, .observe])
        #expect(try await tokens.setGrants([AccessGrant()], ofTokenWithID: "other") == nil)
    }

    @Test("ends immediately where it is revoked, and within a second elsewhere, though it was used just before")
    func knownTokens() async throws {
        // Nothing listens to the changes of the collection.
        let storage = MemoryStorageEngine()
        let clock = TestDate()
        let (here, there) = (
            AccessTokens(storage: storage, now: { clock.date }), AccessTokens(storage: storage, now: { clock.date })
        )
        func isValid(_ tokens: AccessTokens, _ token: String) async throws -> Bool {
            try await tokens.client(bearing: token) != nil
        }
        for age in [0, 0.2, 0.3, 0.4] {
            let (token, stored) = try await here.create(name: "test", grants: [AccessGrant()])
            #expect(try await isValid(here, token))
            #expect(try await isValid(there, token))
            clock.date += age
            #expect(try await isValid(here, token))
            try await here.revoke(id: stored.id)
            #expect(try await !isValid(here, token))
            #expect(try await !isValid(here, token))
            clock.date += 0.9
            #expect(try await !isValid(there, token))
        }
        // Neither the secret nor the end is taken from what is known.
        let (token, _) = try await here.create(
            name: "test", grants: [AccessGrant()], expiresAt: clock.date.addingTimeInterval(0.1))
        #expect(try await isValid(here, token))
        #expect(try await !isValid(here, String(token.dropLast()) + (token.hasSuffix("0") ? "1" : "0")))
        clock.date += 0.1
        #expect(try await !isValid(here, token))
    }

    @Test("limits the streams of a client")
    func streams() async throws {
        var limits = StorageServerLimits()
        limits.streams = 2
        let server = try await server(limits: limits)
        let token = try await token([.read, .observe]).token
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/events")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        var open: [HTTPClientResponse.Body.AsyncIterator] = []
        for _ in 0..<2 {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            var parts = response.body.makeAsyncIterator()
            _ = try await parts.next()
            open.append(parts)
        }
        let refused = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        #expect(refused.status == .tooManyRequests)
        #expect(refused.headers.first(name: "Retry-After") == "5")
        withExtendedLifetime(open) {}
    }

    @Test("lets no client hide its changes behind the origin of another one")
    func origins() async throws {
        let server = try await server()
        let ada = try await server.engine(token: try await token([.read, .write, .observe]).token)
        let eve = try await server.engine(token: try await token([.read, .write, .observe]).token)
        let origin = StorageOrigin()
        let cursor = try await ada.fetchCursor()
        _ = try await ada.apply(StorageBatch([.write(key: CacheKey("a"), data: Data("1".utf8))], origin: origin))
        let own = try await ada.fetchChanges(since: cursor, excluding: origin)
        // All changes are those of the reader, who may get none of them, or all as its own.
        #expect(own?.changes.allSatisfy { $0.origin == origin } == true)
        _ = try await eve.apply(StorageBatch([.write(key: CacheKey("a"), data: Data("2".utf8))], origin: origin))
        let changed = try await ada.fetchChangedItems(since: cursor, excluding: origin)
        #expect(changed?.items.map(\.data) == [Data("2".utf8)])
        #expect(changed?.changes.contains { $0.origin != origin } == true)
    }

    @Test("without tokens is for programs of this machine, not for pages of websites")
    func pages() async throws {
        let server = try await TestServer(["notes": database])
        func status(_ host: String, _ type: String?) async throws -> UInt {
            var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/scan")
            request.method = .POST
            request.headers.add(name: "Host", value: host)
            if let type { request.headers.add(name: "Content-Type", value: type) }
            request.body = .bytes(ByteBuffer(string: "{}"))
            return try await HTTPClient.shared.execute(request, timeout: .seconds(60)).status.code
        }
        let json = "application/json"
        for host in ["127.0.0.1:\(server.port)", "localhost", "LOCALHOST:1", "[::1]:8080"] {
            #expect(try await status(host, json) == 200)
        }
        for host in ["example.com", "localhost.example.com", "127.0.0.1.example.com", "127.0.0.1:80x", ""] {
            #expect([400, 421].contains(try await status(host, json)), "\(host)")
        }
        for type in [
            nil, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
            "text/plain; application/json",
        ] {
            #expect(try await status("localhost", type) == 415)
        }
        #expect(try await status("localhost", "Application/JSON; charset=utf-8") == 200)
    }

    @Test("is not given to other machines without TLS and tokens", arguments: ["0.0.0.0", "::", "example.com", ""])
    func otherMachines(_ host: String) async throws {
        func refusal(_ access: some StorageAccess, isBehindProxy: Bool) async -> StorageError.Code? {
            var options = StorageServerOptions()
            (options.host, options.port, options.isBehindProxy) = (host, 0, isBehindProxy)
            let server = StorageServer(access: access, collections: ["notes": database], options: options)
            return await code { try await server.run() }
        }
        #expect(await refusal(OpenAccess(), isBehindProxy: false) == .invalidArgument)
        #expect(await refusal(OpenAccess(), isBehindProxy: true) == .invalidArgument)
        #expect(await refusal(tokens, isBehindProxy: false) == .invalidArgument)
    }

    @Test("is stored without the secret")
    func secrets() async throws {
        let made = try await tokens.create(name: "a", grants: [AccessGrant()])
        let secret = try #require(made.token.split(separator: "_").last)
        #expect(secret.utf8.count == 64)
        for data in try await database.collection(named: "tokens").fetchAllData() {
            #expect(!String(decoding: data, as: UTF8.self).contains(secret))
        }
        #expect(try await tokens.all().map(\.id) == [made.stored.id])
        await #expect(throws: StorageError.self) {
            try await tokens.create(name: "b", grants: [AccessGrant(matching: "@.owner ==")])
        }
        await #expect(throws: StorageError.self) {
            try await tokens.create(name: "c", grants: [AccessGrant(), AccessGrant()])
        }
    }
}

/// The time that a test sets.
private final class TestDate: @unchecked Sendable {
    // @unchecked because the test uses it in one task.
    var date = Date(timeIntervalSinceReferenceDate: 0)
}
