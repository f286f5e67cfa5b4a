import AsyncHTTPClient
import Bodega
import BodegaRemote
import BodegaServer
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("Requests that are sent again")
struct ReceiptTests {

    private struct Account: Codable, Sendable {
        var balance = 0
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    private func database() throws -> SQLiteStorageEngine {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try SQLiteStorageEngine(openingFile: folder.appendingPathComponent("bank.db"), durability: .relaxed)
    }

    private func collections(_ database: SQLiteStorageEngine) throws -> StorageCollections {
        var collections = StorageCollections([
            "a": try database.collection(named: "a"), "b": try database.collection(named: "b"),
        ])
        collections.receipts = try database.collection(named: "receipts")
        return collections
    }

    @Test(
        "Each change has one effect behind a proxy that delays, loses, doubles and cuts",
        arguments: [nil, #"@.balance < 100000"#])
    func proxy(_ filter: String?) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        print("proxy: EMPORIUM_SEED=\(proxySeed)")
        let database = try database()
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let server = try await TestServer(access: tokens, try collections(database))
        let proxy = try await FaultyProxy(before: server, seed: proxySeed)
        let key = CacheKey("account")
        for name in ["a", "b"] {
            try await ObjectStorage<Account>(storage: database.collection(named: name)).store(Account(), forKey: key)
        }
        let (clients, transfers) = (3, 20)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                let (token, _) = try await tokens.create(
                    name: "\(client)", grants: [AccessGrant(matching: filter)])
                group.addTask { [url = proxy.url] in
                    let remote = try RemoteDatabase(url, options: .patient) { token }
                    let engine = try await remote.collection(named: "a")
                    let a = ObjectStorage<Account>(storage: engine)
                    let b = ObjectStorage<Account>(storage: try await remote.collection(named: "b"))
                    for _ in 0..<transfers {
                        try await engine.transaction { transaction in
                            try await transaction.update(forKey: key, in: a) { $0.balance += 1 }
                            try await transaction.update(forKey: key, in: b) { $0.balance -= 1 }
                        }
                        try await a.update(forKey: key) { $0.balance += 1 }
                        // Its answer is never a part.
                        let count = try await engine.fetchCount()
                        #expect(count == 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        let a = ObjectStorage<Account>(storage: try database.collection(named: "a"))
        let b = ObjectStorage<Account>(storage: try database.collection(named: "b"))
        #expect(try await a.object(forKey: key)?.balance == 2 * clients * transfers)
        #expect(try await b.object(forKey: key)?.balance == -clients * transfers)
        let counts = try await proxy.end()
        for fault in ["delay", "refuse", "lose", "cut", "double"] {
            #expect(counts[fault, default: 0] > 0, "\(fault) of \(counts)")
        }
    }

    @Test("take no notes of a client that may not write", arguments: ["PUT", "DELETE"])
    func readers(_ method: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let (token, _) = try await tokens.create(name: "Ada", grants: [AccessGrant(collection: "a", rights: [.read])])
        try await database.collection(named: "a").write(Data("1".utf8), key: CacheKey("k"))
        let server = try await TestServer(access: tokens, try collections(database))
        for condition in [["If-Match": "\"other\""], ["If-None-Match": "*"], [:]] {
            var request = HTTPClientRequest(url: "\(server.url)/v1/collections/a/items/k")
            request.method = HTTPMethod(rawValue: method)
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
            request.headers.add(name: "Idempotency-Key", value: UUID().uuidString)
            for (name, value) in condition { request.headers.add(name: name, value: value) }
            if method == "PUT" { request.body = .bytes(ByteBuffer(string: "2")) }
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            #expect(response.status == .forbidden)
        }
        #expect(try await database.collection(named: "receipts").fetchCount() == 0)
    }

    /// The response to a request, by a client that shares no code with ours.
    private func send(
        _ server: TestServer, _ body: String?, key: String?, _ method: HTTPMethod = .POST, _ path: String = "batch",
        _ token: String? = nil, _ headers: [(String, String)] = []
    ) async throws -> (status: UInt, body: String) {
        var request = HTTPClientRequest(url: "\(server.url)/v1/\(path)")
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.add(name: "Content-Type", value: "application/json")
        if let key { request.headers.add(name: "Idempotency-Key", value: key) }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return (response.status.code, String(buffer: try await response.body.collect(upTo: 1 << 20)))
    }

    private func batch(_ text: String, if condition: String? = nil) -> String {
        let conditions = condition.map { #","conditions":[{"key":"k"\#($0)}]"# } ?? ""
        return #"{"batches":[{"collection":"a","operations":[{"key":"k","value":"\#(text)"}]\#(conditions)}]}"#
    }

    @Test("A key holds across restarts and servers, for one request of one client")
    func keys() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let server = try await TestServer(try collections(database))
        let a = try database.collection(named: "a")
        let (request, key) = (batch("1", if: ""), "\"8e03978e-40d5\"")
        let first = try await send(server, request, key: key)
        #expect(first.status == 200 && first.body.contains(#""applied":true"#))
        try await a.write(Data(#""2""#.utf8), key: CacheKey("k"))
        #expect(try await send(server, request, key: nil).body.contains(#""applied":false"#))
        await server.stop()

        let servers = [
            try await TestServer(try collections(database)), try await TestServer(try collections(database)),
        ]
        for server in servers {
            let again = try await send(server, request, key: key)
            #expect(again.status == 200 && again.body.contains(#""applied":true"#))
            // Another request with the key.
            let other = try await send(server, batch("3"), key: key)
            #expect(other.status == 422, "\(other)")
            for invalid in ["", "\"\"", "a b", "\"a\"b\"", String(repeating: "a", count: 256)] {
                #expect(try await send(server, batch("3"), key: invalid).status == 400, "\(invalid)")
            }
        }
        #expect(try await a.fetch(key: CacheKey("k")) == Data(#""2""#.utf8))
        // One that was not applied never will be: its client has gone on.
        let unmet = batch("4", if: "")
        for server in servers {
            #expect(try await send(server, unmet, key: "b").body.contains(#""applied":false"#))
            try await a.remove(key: CacheKey("k"))
        }
        #expect(try await send(servers[0], batch("3"), key: "b").status == 422)
        #expect(try await a.fetch(key: CacheKey("k")) == nil)
        #expect(try await send(servers[1], unmet, key: "e").body.contains(#""applied":true"#))

        // Single items.
        let path = "collections/a/items/k"
        #expect(try await send(servers[0], "5", key: "c", .PUT, path).status == 204)
        #expect(try await send(servers[0], nil, key: "d", .DELETE, path).status == 204)
        #expect(try await send(servers[1], "5", key: "c", .PUT, path).status == 204)
        #expect(try await a.fetch(key: CacheKey("k")) == nil)
        #expect(try await send(servers[1], "6", key: "c", .PUT, path).status == 422)
    }

    @Test("The same requests of eight connections have one effect")
    func race() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let server = try await TestServer(try collections(database))
        let cursor = try await database.collection(named: "a").fetchCursor()
        for number in 0..<10 {
            let bodies = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await self.send(server, self.batch("\(number)"), key: "key\(number)").body }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(bodies.count == 8 && bodies.allSatisfy { $0.contains(#""applied":true"#) })
        }
        let changes = try await database.collection(named: "a").fetchChanges(since: cursor, excluding: nil)
        #expect(changes?.changes.count == 10)
    }

    @Test("The same conditional changes of an item have one effect, and other conditions make another request")
    func conditions() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let server = try await TestServer(try collections(database))
        for number in 0..<20 {
            let path = "collections/a/items/\(number)"
            for (method, header) in [(HTTPMethod.PUT, ("If-None-Match", "*")), (.DELETE, ("If-Match", "*"))] {
                let statuses = try await withThrowingTaskGroup(of: UInt.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            try await self.send(
                                server, method == .PUT ? "1" : nil, key: "\(method)\(number)", method, path, nil,
                                [header]
                            ).status
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses == Array(repeating: 204, count: 6))
            }
        }
        let path = "collections/a/items/k"
        #expect(try await send(server, "1", key: "x", .PUT, path, nil, [("If-None-Match", "*")]).status == 204)
        #expect(try await send(server, "1", key: "x", .PUT, path, nil, [("If-None-Match", "*")]).status == 204)
        #expect(try await send(server, "1", key: "x", .PUT, path).status == 422)
        #expect(try await send(server, "1", key: "x", .PUT, path, nil, [("If-Match", "\"y\"")]).status == 422)
    }

    @Test("A change of an item that was refused because of its conditions stays refused when they are met")
    func refused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let server = try await TestServer(try collections(database))
        let a = try database.collection(named: "a")
        let path = "collections/a/items/k"
        for (number, (method, header)) in [(HTTPMethod.PUT, "If-Match"), (.DELETE, "If-Match")].enumerated() {
            for tag in ["*", "\"another\""] {
                let key = "\(number)\(tag.count)"
                try await a.remove(key: CacheKey("k"))
                let body = method == .PUT ? "1" : nil
                #expect(try await send(server, body, key: key, method, path, nil, [(header, tag)]).status == 412)
                try await a.write(Data("2".utf8), key: CacheKey("k"))
                #expect(try await send(server, body, key: key, method, path, nil, [(header, tag)]).status == 412)
                #expect(try await send(server, "3", key: key, .PUT, path).status == 422)
                #expect(try await a.fetch(key: CacheKey("k")) == Data("2".utf8))
            }
        }
        #expect(try await send(server, "1", key: "new", .PUT, path, nil, [("If-Match", "*")]).status == 204)
    }

    @Test("All copies of a conditional change get the same answer, while its conditions are met now and then")
    func copies() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let server = try await TestServer(try collections(database))
        let a = try database.collection(named: "a")
        var counts: [Bool: Int] = [:]
        for number in 0..<40 {
            let (request, other) = (batch("\(number)", if: ""), CacheKey("k"))
            let cursor = try await a.fetchCursor()
            let answers = try await withThrowingTaskGroup(of: Bool?.self) { group in
                group.addTask {
                    for _ in 0..<8 {
                        try await a.write(Data("0".utf8), key: other)
                        try await a.remove(key: other)
                    }
                    return nil
                }
                for _ in 0..<6 {
                    group.addTask {
                        let answer = try await self.send(server, request, key: "copy\(number)")
                        #expect(answer.status == 200)
                        return answer.body.contains(#""applied":true"#)
                    }
                }
                return try await group.reduce(into: []) { answers, answer in answers += answer.map { [$0] } ?? [] }
            }
            #expect(answers.count == 6 && Set(answers).count == 1, "\(answers)")
            // The log has 16 changes of the item, and one more if the copies were applied.
            let changes = try await a.fetchChanges(since: cursor, excluding: nil)?.changes.count
            #expect(changes == (answers[0] ? 17 : 16))
            counts[answers[0], default: 0] += 1
            try await a.remove(key: other)
        }
        print("copies: \(counts)")
    }

    @Test("A client that may only write can send a change again")
    func writeOnly() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let server = try await TestServer(access: tokens, try collections(database))
        let token = try await tokens.create(name: "a", grants: [AccessGrant(rights: [.write])]).token
        for _ in 0..<2 {
            #expect(try await send(server, batch("1"), key: "x", .POST, "batch", token).status == 200)
            #expect(try await send(server, "1", key: "y", .PUT, "collections/a/items/i", token).status == 204)
        }
    }

    @Test("A client whose token was replaced can send a change again, if its key is a random UUID")
    func newToken() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let a = try database.collection(named: "a")
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let server = try await TestServer(access: tokens, try collections(database))
        for key in [UUID().uuidString, "\"\(UUID().uuidString.lowercased())\""] {
            for number in 0..<2 {
                let (token, _) = try await tokens.create(name: "\(number)", grants: [AccessGrant()])
                #expect(try await send(server, batch("1"), key: key, .POST, "batch", token).status == 200)
                if number == 0 { try await a.write(Data("2".utf8), key: CacheKey("k")) }
            }
            #expect(try await a.fetch(key: CacheKey("k")) == Data("2".utf8))
        }
    }

    @Test("Two clients may have the same keys, and a server without receipts says that it has none")
    func clients() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let server = try await TestServer(access: tokens, try collections(database))
        for number in 0..<2 {
            let (token, _) = try await tokens.create(name: "\(number)", grants: [AccessGrant()])
            #expect(try await send(server, batch("\(number)"), key: "x", .POST, "batch", token).status == 200)
            let stored = try await database.collection(named: "a").fetch(key: CacheKey("k"))
            #expect(stored == Data("\"\(number)\"".utf8))
        }
        let other = try await TestServer(["a": MemoryStorageEngine()])
        #expect(try await send(other, batch("1"), key: "x").status == 400)
        #expect(try await send(other, batch("1"), key: nil).status == 200)
    }

    /// A server in memory, and its notes.
    private func server(by clock: TestClock) async throws -> (TestServer, MemoryStorageEngine) {
        let database = MemoryStorageEngine(now: { clock.now })
        var collections: StorageCollections = ["a": database.collection(named: "a")]
        let receipts = database.collection(named: "receipts")
        collections.receipts = receipts
        return (try await TestServer(collections), receipts)
    }

    @Test("Notes that are older than an hour are removed, and no others")
    func old() async throws {
        let clock = TestClock()
        let (server, receipts) = try await server(by: clock)
        for number in 0..<30 { _ = try await send(server, batch("\(number)"), key: "\(number)") }
        clock.advance(by: 3_599)
        for number in 30..<40 { _ = try await send(server, batch("\(number)"), key: "\(number)") }
        #expect(try await receipts.fetchCount() == 40)
        clock.advance(by: 2)
        for number in 40..<50 { _ = try await send(server, batch("\(number)"), key: "\(number)") }
        #expect(try await receipts.fetchCount() == 20)
    }

    @Test("Notes of a time when the clock was ahead are removed, and hold up no others", arguments: [1, 12])
    func clockSetBack(_ years: Double) async throws {
        let clock = TestClock()
        let (server, receipts) = try await server(by: clock)
        let ahead = years * 365 * 86_400
        clock.advance(by: ahead)
        for number in 0..<20 { _ = try await send(server, batch("\(number)"), key: "\(number)") }
        clock.advance(by: -ahead)
        for number in 20..<30 { _ = try await send(server, batch("\(number)"), key: "\(number)") }
        clock.advance(by: 3_601)
        for number in 30..<40 { _ = try await send(server, batch("\(number)"), key: "\(number)") }
        #expect(try await receipts.fetchCount() == 10)
    }

    @Test("Notes stay when the clock is corrected by hours", arguments: [3_601.0, 10_800, 86_000])
    func clockCorrected(_ seconds: Double) async throws {
        let clock = TestClock()
        let (server, receipts) = try await server(by: clock)
        clock.advance(by: seconds)
        for number in 0..<20 { _ = try await send(server, batch("\(number)"), key: "\(number)") }
        clock.advance(by: -seconds)
        for number in 20..<30 { _ = try await send(server, batch("\(number)"), key: "\(number)") }
        #expect(try await receipts.fetchCount() == 30)
    }
}

/// A clock that stands still until it is moved.
private final class TestClock: @unchecked Sendable {
    // @unchecked because the lock guards the time.
    private let lock = NSLock()
    private var time = Date(timeIntervalSince1970: 1_000_000_000)

    var now: Date { lock.withLock { time } }

    func advance(by seconds: TimeInterval) { lock.withLock { time += seconds } }
}
