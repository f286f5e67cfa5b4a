import AsyncHTTPClient
import Bodega
import BodegaHTTP
import BodegaRemote
import BodegaServer
import Browsing
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite(
    "Behind nginx, with the configuration of the guide",
    .enabled(if: Nginx.isWanted, "nginx is not installed: apt-get install nginx-light"))
struct NginxTests {
    /// Items of 1,100 bytes, of which nginx finds no two alike in the 32 KiB that it remembers for compression.
    private static let items = {
        let text = (0..<110_000).map { _ in UInt8.random(in: UInt8(ascii: "A")...UInt8(ascii: "Z")) }
        return (0..<10_000).map { number in
            let start = number % 100 * 1_100
            return (
                key: CacheKey("n\(number)"), data: Data("\(number) ".utf8) + Data(text[start..<(start + 1_100)])
            )
        }
    }()

    @Test("passes on items, conditions, large bodies and large answers")
    func items() async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        let nginx = try await Nginx(before: server.port)
        let engine = try await RemoteStorageEngine(connecting: nginx.url, collection: "notes")
        func status(_ method: HTTPMethod, _ headers: [(String, String)], _ body: String = "") async throws -> (
            UInt, String?
        ) {
            var request = HTTPClientRequest(url: "\(nginx.url)/v1/collections/notes/items/a%2Fb%20%25")
            request.method = method
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            return (response.status.code, response.headers.first(name: "ETag"))
        }
        #expect(try await status(.PUT, [("If-None-Match", "*")], "1").0 == 204)
        #expect(try await status(.PUT, [("If-None-Match", "*")], "2").0 == 412)
        let (read, tag) = try await status(.GET, [])
        #expect(read == 200 && tag != nil)
        #expect(try await status(.GET, [("If-None-Match", tag ?? "")]).0 == 304)
        #expect(try await engine.fetch(key: CacheKey("a/b %")) == Data("1".utf8))
        let large = Data(repeating: 7, count: 20 << 20)
        try await engine.write(large, key: CacheKey("large"))
        #expect(try await engine.fetch(key: CacheKey("large")) == large)
        try await engine.removeAllData()
        // More than 10 MB, in one batch and in one answer.
        try await engine.write(Self.items)
        #expect(try await engine.fetchAll().map(\.data) == Self.items.map(\.data))
        await server.stop()
    }

    /// The bytes on the wire are those that curl writes, and Python decompresses them.
    @Test("compresses the answers of scans and queries")
    func compression() async throws {
        struct Note: Codable {
            var title: String
            var isDone: Bool
            var tags: [String]
        }
        let database = MemoryStorageEngine()
        let notes = try (0..<2_000).map { number in
            let note = Note(title: "note number \(number)", isDone: number % 3 == 0, tags: ["home", "\(number % 7)"])
            return (CacheKey("n\(number)"), try JSONEncoder().encode(note))
        }
        try await database.write(notes)
        let server = try await TestServer(["notes": database])
        let nginx = try await Nginx(before: server.port)
        let tool = try BodegaTool()
        func answer(from url: URL, _ route: String, _ body: String, gzip: Bool) async throws -> Data {
            let file = tool.path("answer")
            let encoding = gzip ? ["--header", "Accept-Encoding: gzip"] : []
            let run = try await ProgramRun(
                "curl",
                ["--silent", "--show-error", "--max-time", "60", "--output", file, "--data-binary", body]
                    + ["--header", "Content-Type: application/json"] + encoding
                    + ["\(url)/v1/collections/notes/\(route)"])
            #expect(run.status == 0, "\(run.output)")
            return try Data(contentsOf: URL(fileURLWithPath: file))
        }
        for (route, body) in [
            ("scan", #"{"scans":[{"all":{}}],"fields":["data"]}"#), ("query", #"{"filter":"@.isDone","limit":1000}"#),
        ] {
            let plain = try await answer(from: server.url, route, body, gzip: true)
            #expect(plain.count > 40_000, "\(route)")
            #expect(try await answer(from: nginx.url, route, body, gzip: false) == plain, "\(route)")
            let compressed = try await answer(from: nginx.url, route, body, gzip: true)
            #expect(compressed.count < plain.count / 5, "\(route)")
            try compressed.write(to: URL(fileURLWithPath: tool.path("answer.gz")))
            let python = try await ProgramRun(
                "python3",
                ["-c", "import gzip, sys; open(sys.argv[2], 'wb').write(gzip.open(sys.argv[1]).read())"]
                    + [tool.path("answer.gz"), tool.path("decompressed")])
            #expect(python.status == 0, "\(python.output)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: tool.path("decompressed"))) == plain, "\(route)")
        }
        let engine = try await RemoteStorageEngine(connecting: nginx.url, collection: "notes")
        #expect(try await engine.fetchAll().map(\.data) == notes.map(\.1))
        await server.stop()
    }

    @Test("passes on events without delay")
    func events() async throws {
        let database = MemoryStorageEngine()
        let server = try await TestServer(["notes": database])
        let nginx = try await Nginx(before: server.port)
        let url = try #require(URL(string: "\(nginx.url)/v1/collections/notes/events"))
        let stream = try await URLSessionTransport.shared.open(
            HTTPStorageRequest(method: .get, url: url, maximumResponseBytes: 1 << 20, timeLimit: .seconds(100)))
        var parts = stream.makeAsyncIterator()
        var text = ""
        // Each event must arrive before the next one is made. What was buffered would come with a heartbeat, and each
        // event would wait for one.
        var heartbeats: Set<Int> = []
        for number in 0..<20 {
            try await database.write(Data(), key: CacheKey("event-\(number)"))
            while !text.contains("event-\(number)\"") {
                text += String(decoding: try #require(try await parts.next()), as: UTF8.self)
            }
            heartbeats.insert(text.components(separatedBy: "\n:\n").count)
        }
        #expect(heartbeats.count < 10)
        await server.stop()
    }

    private func scan(_ url: URL) async throws -> HTTPStorageStream {
        let url = try #require(URL(string: "\(url)/v1/collections/notes/scan"))
        return try await URLSessionTransport.shared.open(
            HTTPStorageRequest(
                method: .post, url: url, headers: ["Content-Type": "application/json"],
                body: Data(#"{"scans":[{"all":{}}],"fields":["data"]}"#.utf8), maximumResponseBytes: 1 << 30,
                timeLimit: .seconds(60)))
    }

    @Test("keeps a large answer for a slow reader, and reports one whose server has ended")
    func slowReader() async throws {
        let tool = try BodegaTool()
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: tool.path("a.db")))
        let notes = try database.collection(named: "notes")
        for batch in 0..<8 {
            try await notes.write(Self.items.map { (CacheKey("\(batch)-\($0.key.rawValue)"), $0.data) })
        }
        let server = try await tool.serve([tool.path("a.db"), "--without-tokens"])
        let nginx = try await Nginx(before: try #require(URL(string: server.address)?.port))
        let engine = try await RemoteStorageEngine(connecting: nginx.url, collection: "notes")
        var slow = try await scan(nginx.url).makeAsyncIterator()
        var bytes = try #require(try await slow.next())
        // The reader does not read while others do.
        for number in 0..<100 {
            let key = CacheKey("0-n\(number)")
            #expect(try await engine.fetch(key: key) == Self.items[number].data)
        }
        while let part = try await slow.next() { bytes += part }
        #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 80_001)
        #expect(String(decoding: bytes.suffix(200), as: UTF8.self).contains(#"{"end":true"#))

        var cut = try await scan(nginx.url).makeAsyncIterator()
        var rest = try #require(try await cut.next())
        _ = try await server.stop(SIGKILL)
        let error = await #expect(throws: StorageError.self) { while let part = try await cut.next() { rest += part } }
        #expect(error?.code == .unreachable && rest.count < bytes.count)
        let gone = await #expect(throws: StorageError.self) { try await engine.fetchAll() }
        #expect(gone?.code == .unreachable)
    }
}
