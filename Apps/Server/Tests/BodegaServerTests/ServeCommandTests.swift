import Bodega
import BodegaRemote
import Browsing
import Foundation
import Testing

@Suite("bodega serve")
struct ServeCommandTests {
    private let tool: BodegaTool

    init() throws { tool = try BodegaTool() }

    private func path(_ name: String) -> String { tool.path(name) }

    @Test("serves the collections of a file to clients with tokens, until it is stopped")
    func tokens() async throws {
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path("notes.db")))
        let notes = try database.collection(named: "notes")
        try await notes.write(Data(#"{"owner":"ada"}"#.utf8), key: CacheKey("a"))
        try await notes.write(Data(#"{"owner":"bob"}"#.utf8), key: CacheKey("b"))
        try await database.write(Data("x".utf8), key: CacheKey("unnamed"))
        for wrong in [["--where", "@."], ["--on", ""], ["--rights", "all"], ["--days", "0"]] {
            let refused = try await tool.run(["token", "create", path("notes.db") + "#tokens", "Ada"] + wrong)
            #expect(refused.status == 64 && refused.errors.contains(wrong[0]), "\(refused.errors)")
        }
        let created = try await tool.run([
            "token", "create", path("notes.db") + "#tokens", "Ada", "--on", "notes", "--where", #"@.owner == "ada""#,
            "--days", "1",
        ])
        #expect(created.status == 0, "\(created.errors)")
        let token = created.text.trimmingCharacters(in: .newlines)
        let all = try await tool.run(["token", "create", path("notes.db") + "#tokens", "All"]).text
            .trimmingCharacters(in: .newlines)
        let server = try await tool.serve([path("notes.db"), "--tokens", path("notes.db") + "#tokens"])
        let url = try #require(URL(string: server.address))
        let ada = try await RemoteStorageEngine(connecting: url, collection: "notes") { token }
        #expect(try await ada.fetchKeys() == [CacheKey("a")])
        func keys(_ collection: String, _ token: String?) async throws -> [CacheKey] {
            try await RemoteStorageEngine(connecting: url, collection: collection) { token }.fetchKeys()
        }
        #expect(try await keys("notes", all) == [CacheKey("a"), CacheKey("b")])
        #expect(try await keys("_", all) == [CacheKey("unnamed")])
        for (collection, token) in [("tokens", all), ("other", all), ("_", token), ("notes", "x")] {
            await #expect(throws: StorageError.self) { try await keys(collection, token) }
        }
        #expect(try await Set(database.collectionNames()) == ["emporium-receipts", "notes", "tokens"])

        // The tool sees the tokens without their secrets, and the server sees what the tool revokes.
        let lines = try await tool.run(["token", "list", path("notes.db") + "#tokens"]).text.split(separator: "\n")
        let listed = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(listed.map { $0["name"] as? String } == ["Ada", "All"])
        #expect(!lines.joined().contains(try #require(token.split(separator: "_").last)))
        let id = try #require(listed[0]["id"] as? String)
        #expect(try await tool.run(["token", "revoke", path("notes.db") + "#tokens", id]).status == 0)
        #expect(try await tool.run(["token", "revoke", path("notes.db") + "#tokens", id]).status == 1)
        // Another process has revoked the token, so the server may know it for up to a second.
        var refusal: StorageError?
        while refusal == nil {
            do { _ = try await ada.fetchKeys() } catch let error as StorageError { refusal = error }
        }
        #expect(refusal?.code == .unauthorized)
        #expect(try await server.stop(SIGINT) == 0)
    }

    @Test("gives the same related items as the file, also of a collection that does not exist yet")
    func includedItems() async throws {
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path("notes.db")))
        let notes = try database.collection(named: "notes")
        try await notes.declareReferences([StorageReference("f", to: "folders", onRemoval: .keep)])
        try await notes.write(Data(#"{"f":"1"}"#.utf8), key: CacheKey("a"))
        let server = try await tool.serve([path("notes.db"), "--without-tokens"])
        func query(_ store: String) async throws -> BodegaTool.Outcome {
            try await tool.run(["query", "\(store)#notes", "--include", "f", "--json"])
        }
        for folder in [nil, #"{"id":"1"}"#] {
            if let folder {
                try await database.collection(named: "folders").write(Data(folder.utf8), key: CacheKey("1"))
            }
            let (local, remote) = (try await query(path("notes.db")), try await query(server.address))
            let line = #"{"key":"a","json":{"f":"1"},"included":{"f":\#(folder ?? "null")}}"#
            #expect(local.status == 0 && local.text == line + "\n", "\(local)")
            #expect(remote.status == 0 && remote.text == local.text, "\(remote)")
        }
        #expect(try await server.stop() == 0)
    }

    @Test("serves one collection without tokens, on this machine only")
    func open() async throws {
        let folderOfItems = path("items")
        try await DiskStorageEngine(directory: .init(url: URL(fileURLWithPath: folderOfItems))).write(
            Data("1".utf8), key: CacheKey("a"))
        let server = try await tool.serve(["disk:" + folderOfItems, "--without-tokens"])
        let engine = try await RemoteStorageEngine(
            connecting: try #require(URL(string: server.address)), collection: "_")
        #expect(try await engine.fetch(key: CacheKey("a")) == Data("1".utf8))
        #expect(engine.log == nil)
        try await engine.write(Data("2".utf8), key: CacheKey("b"))
        #expect(try await engine.fetchKeys().count == 2)
        #expect(try await server.stop() == 0)
    }

    @Test(
        "refuses what would let others in",
        arguments: [
            [], ["--tokens", "tokens.db", "--without-tokens"], ["--without-tokens", "--host", "0.0.0.0"],
            ["--without-tokens", "--host", "0.0.0.0", "--behind-proxy"],
            ["--tokens", "tokens.db", "--host", "0.0.0.0"],
            ["--without-tokens", "--host", "0.0.0.0", "--certificate", "a.pem", "--key", "a.key"],
            ["--tokens", "tokens.db", "--certificate", "a.pem"], ["--tokens", "tokens.db", "--key", "a.key"],
            ["--without-tokens", "--rate", "0"], ["--without-tokens", "--metrics-port", "65536"],
            ["--without-tokens", "--port", "65536"],
        ])
    func refuses(_ arguments: [String]) async throws {
        let outcome = try await tool.run(["serve", path("notes.db")] + arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
    }

    @Test("serves other machines with TLS and tokens, limits their requests, and has metrics")
    func options() async throws {
        try await SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path("notes.db"))).write(
            Data("1".utf8), key: CacheKey("a"))
        let made = try await ProgramRun(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path("key"), "-out", path("pem"),
            ])
        try #require(made.status == 0, "\(made.output)")
        let files = ["--certificate", path("pem"), "--key", path("key")]
        let token = try await tool.run(["token", "create", path("tokens.db"), "All"]).text
            .trimmingCharacters(in: .newlines)
        let server = try await tool.serve(
            [path("notes.db"), "--tokens", path("tokens.db"), "--host", "0.0.0.0", "--rate", "0.01"] + files)
        let url = server.address.replacingOccurrences(of: "0.0.0.0", with: "127.0.0.1")
        #expect(url.hasPrefix("https://"))
        let curl = try await ProgramRun(
            "curl",
            [
                "--silent", "--show-error", "--cacert", path("pem"), "--header", "Authorization: Bearer \(token)",
                "--write-out", "%{http_code}\n", "--output", path("out"), url + "/v1/collections/_/items/a?[1-101]",
            ])
        let statuses = curl.output.split(separator: "\n")
        #expect(statuses.count == 101 && statuses.dropLast().allSatisfy { $0 == "200" } && statuses.last == "429")
        #expect(try await server.stop() == 0)

        let refused = try await tool.run(
            ["serve", path("notes.db"), "--without-tokens"] + files.dropLast() + [path("gone")])
        #expect(refused.status == 1 && refused.errors.contains(path("gone")), "\(refused.errors)")
    }

    @Test("names collections that can't be served, and does not serve the tokens themselves")
    func unservable() async throws {
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path("notes.db")))
        for name in ["_", "notes"] {
            try await database.collection(named: name).write(Data("1".utf8), key: CacheKey("a"))
        }
        let place = path("notes.db") + "#tokens"
        #expect(try await tool.run(["token", "create", place, "Ada"]).status == 0)
        let refused = try await tool.run(["serve", place, "--tokens", place])
        #expect(refused.status == 64 && refused.errors.contains("has the tokens"), "\(refused)")
        let own = try await tool.run(["serve", path("notes.db") + "#emporium-receipts", "--tokens", place])
        #expect(own.status != 0 && own.text.isEmpty, "\(own)")

        let server = try await tool.serve([path("notes.db"), "--tokens", place])
        let local = path("local.db")
        for name in ["_", "notes"] {
            #expect(try await tool.run(["put", local, "--collection", name, "b"], input: Data("2".utf8)).status == 0)
        }
        let token = try await tool.run(["token", "create", place, "Bob"]).text
        try Data(token.utf8).write(to: URL(fileURLWithPath: path("token")))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("token"))
        let synced = try await tool.run(["sync", local, server.address, "--token-file", path("token")])
        #expect(synced.status == 0 && synced.text == "sent 1, received 1\n", "\(synced)")
        #expect(synced.errors.contains(#"the collection "_" is not synchronized"#), "\(synced)")
        let named = ["sync", local, server.address, "--token-file", path("token"), "--collection", "_"]
        #expect(try await tool.run(named).status == 64)
        #expect(try await server.stop() == 0)
        #expect(try await database.fetchCount() == 0)
        #expect(try await database.collection(named: "_").fetchKeys() == [CacheKey("a")])
    }

    @Test("goes on when clients open more connections than the process may have files")
    func files() async throws {
        try await SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path("notes.db"))).write(
            Data("1".utf8), key: CacheKey("a"))
        let server = try await tool.serve(path("notes.db"), by: "ulimit -n 200 && exec \"$@\"")
        let port = try #require(URL(string: server.address)?.port)
        /// A connection with a request, which must come before the time for it is over.
        func request() throws -> RawConnection {
            let connection = try RawConnection(port: port)
            connection.send("GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection
        }
        func isAnswered(_ connection: RawConnection) async -> Bool {
            await connection.receive(to: "\r\n\r\n").hasPrefix("HTTP/1.1 204")
        }
        var open: [RawConnection] = []
        for _ in 0..<300 { open.append(try request()) }
        var count = 0
        for connection in open where await isAnswered(connection) { count += 1 }
        #expect(count == 100)
        open = []
        while try await !isAnswered(request()) {}
        #expect(try await server.stop() == 0)
    }

    @Test(
        "serves, and says where, if its output can't be written",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "There is no /dev/full."))
    func fullOutput() async throws {
        try await SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path("notes.db"))).write(
            Data("1".utf8), key: CacheKey("a"))
        let server = try await tool.serve(
            path("notes.db"), by: "exec \"$@\" 2>&1 >/dev/full", addressEndingWith: ".\n")
        let url = try #require(URL(string: server.address))
        #expect(try await RemoteStorageEngine(connecting: url, collection: "_").fetchKeys() == [CacheKey("a")])
        #expect(try await server.stop() == 0)
    }

    @Test("A collection that another program removes, and creates again, is served again")
    func removedCollection() async throws {
        let file = URL(fileURLWithPath: tool.path("notes.db"))
        let database = try SQLiteStorageEngine(openingFile: file)
        let (notes, others) = (
            try database.collection(named: "notes"), try database.collection(named: "others")
        )
        for engine in [notes, others] { try await engine.write(Data("1".utf8), key: CacheKey("a")) }
        let server = try await tool.serve([tool.path("notes.db"), "--without-tokens"])
        func statuses(_ collection: String, count: Int = 1) async throws -> [String] {
            let url = server.address + "/v1/collections/\(collection)/items/a?[1-\(count)]"
            let curl = try await ProgramRun(
                "curl", ["--silent", "--write-out", "%{http_code}\n", "--output", tool.path("out"), url])
            return curl.output.split(separator: "\n").map(String.init)
        }
        #expect(try await statuses("notes") == ["200"])
        try await database.removeCollection(named: "notes")
        let removed = try await statuses("notes", count: 3)
        #expect(removed == ["500", "404", "404"])
        #expect(try await statuses("others") == ["200"])
        try await SQLiteStorageEngine(openingFile: file, collection: "notes").write(
            Data("2".utf8), key: CacheKey("a"))
        #expect(try await statuses("notes") == ["200"])
        #expect(try await server.stop() == 0)
    }
}
