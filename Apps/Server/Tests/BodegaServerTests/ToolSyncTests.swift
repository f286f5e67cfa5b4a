import Bodega
import Browsing
import Foundation
import Testing

@Suite("The tool synchronizes files with a server")
struct ToolSyncTests {
    private let tool: BodegaTool

    init() throws { tool = try BodegaTool() }

    private func put(_ json: String, _ key: String, _ store: String) async throws {
        let outcome = try await tool.run(["put", store, key], input: Data(json.utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// The items of a file as its own lines, which SQLite's program reads.
    private func items(_ file: String) async throws -> [String] {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlite3", tool.path(file), "SELECT id FROM emporium_collections WHERE name = 'notes'"]
        process.standardOutput = output
        try process.start()
        let id = try #require(try Self.lines(output, process).first)
        let (reader, rows) = (Process(), Pipe())
        reader.executableURL = process.executableURL
        reader.arguments = [
            "sqlite3", tool.path(file), "SELECT key || ' ' || value FROM emporium_collection_\(id) ORDER BY 1",
        ]
        reader.standardOutput = rows
        try reader.start()
        return try Self.lines(rows, reader)
    }

    private static func lines(_ output: Pipe, _ process: Process) throws -> [String] {
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("with a token in a file, in both directions, and with a server that was away")
    func replicas() async throws {
        try await put(#"{"id":"0"}"#, "0", "served.db#notes")
        _ = try await createToken(in: "token")
        let arguments = [tool.path("served.db"), "--tokens", tool.path("tokens.db")]
        let server = try await tool.serve(arguments)
        let port = try #require(URL(string: server.address)?.port)
        func sync(_ file: String, _ more: String...) async throws -> BodegaTool.Outcome {
            try await tool.run(["sync", file + "#notes", server.address, "--token-file", "token"] + more)
        }

        try await put(#"{"id":"1","a":1,"b":1}"#, "1", "a.db#notes")
        try await put(#"{"id":"2"}"#, "2", "b.db#notes")
        #expect(try await sync("a.db").text == "sent 1, received 1\n")
        #expect(try await sync("b.db").text == "sent 1, received 2\n")
        #expect(try await sync("a.db").text == "sent 0, received 1\n")
        let first = [#"0 {"id":"0"}"#, #"1 {"id":"1","a":1,"b":1}"#, #"2 {"id":"2"}"#]
        for file in ["a.db", "b.db", "served.db"] { #expect(try await items(file) == first, "\(file)") }

        // Both change while the server is away.
        #expect(try await server.stop() == 0)
        try await put(#"{"id":"1","a":2,"b":1}"#, "1", "a.db#notes")
        try await put(#"{"id":"1","a":1,"b":2}"#, "1", "b.db#notes")
        #expect(try await tool.run(["rm", "b.db#notes", "0"]).status == 0)
        let away = try await sync("a.db", "--timeout", "2")
        #expect(away.status == 1 && away.errors.contains("was not reached within 2 s"), "\(away.errors)")
        #expect(away.errors.contains("1 change stays in the outbox"))
        #expect(try await tool.run(["outbox", "b.db"]).text.split(separator: "\n").count == 2)

        let again = try await tool.serve(arguments, port: port)
        #expect(try await sync("a.db").text == "sent 1, received 0\n")
        #expect(try await sync("b.db").text == "sent 2, received 1, merged 1\n")
        #expect(try await sync("a.db").text == "sent 0, received 2\n")
        let second = [#"1 {"id":"1","a":2,"b":2}"#, #"2 {"id":"2"}"#]
        for file in ["a.db", "b.db", "served.db"] { #expect(try await items(file) == second, "\(file)") }
        #expect(try await again.stop() == 0)
    }

    /// Puts a new token into a file that only its owner can read.
    ///
    /// - Returns: The identifier of the token.
    private func createToken(in file: String, for collections: [String] = ["notes"]) async throws -> String {
        let grants = collections.flatMap { ["--on", $0] }
        let text = try await tool.run(["token", "create", tool.path("tokens.db"), "Test"] + grants).text
        try Data(text.utf8).write(to: URL(fileURLWithPath: tool.path(file)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tool.path(file))
        return String(try #require(text.split(separator: "_").dropFirst().first))
    }

    @Test("and a command that has begun before writes nothing past the outbox", arguments: [false, true])
    func earlierCommand(isSynchronized: Bool) async throws {
        if isSynchronized {
            // The file has an outbox, but for another collection.
            try await put("0", "0", "a.db#other")
            #expect(try await tool.run(["sync", "a.db#other", "b.db"]).status == 0)
        }
        let importing = try tool.process(["import", "a.db#notes", "--key", "id"])
        let (input, errors) = (Pipe(), Pipe())
        (importing.standardInput, importing.standardError) = (input, errors)
        try importing.start()
        try input.fileHandleForWriting.write(contentsOf: Data((#"{"id":"1"}"# + "\n").utf8))
        while try await tool.run(["count", "a.db#notes"]).text != "1\n" {}

        #expect(try await tool.run(["sync", "a.db#notes", "b.db"]).text == "sent 1, received 0\n")
        try input.fileHandleForWriting.write(contentsOf: Data((#"{"id":"2"}"# + "\n").utf8))
        try input.fileHandleForWriting.close()
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        importing.waitUntilExit()
        #expect(importing.terminationStatus == 1 && message.contains("Run the program again"), "\(message)")
        #expect(try await items("a.db") == [#"1 {"id":"1"}"#])

        let lines = Data((#"{"id":"1","v":2}"# + "\n" + #"{"id":"2"}"# + "\n").utf8)
        #expect(try await tool.run(["import", "a.db#notes", "--key", "id"], input: lines).status == 0)
        #expect(try await tool.run(["sync", "a.db#notes", "b.db"]).text == "sent 2, received 0\n")
        #expect(try await items("b.db") == [#"1 {"id":"1","v":2}"#, #"2 {"id":"2"}"#])
    }

    @Test("and a server of a file refuses writes as soon as the file is synchronized with another")
    func laterRelay() async throws {
        try await put("1", "1", "a.db#notes")
        try await put("1", "1", "a.db#other")
        let server = try await tool.serve([tool.path("a.db"), "--without-tokens"])
        try await put("2", "2", server.address + "#notes")
        #expect(try await tool.run(["sync", "a.db#notes", "b.db"]).text == "sent 2, received 0\n")
        let refused = try await tool.run(["put", server.address + "#notes", "3"], input: Data("3".utf8))
        #expect(refused.status == 1 && refused.errors.contains("readOnly"), "\(refused)")
        try await put("3", "3", server.address + "#other")
        #expect(try await items("a.db") == ["1 1", "2 2"])
        #expect(try await server.stop() == 0)
    }

    @Test("but not by a server of the synchronized file itself, which would not pass on what its clients write")
    func relay() async throws {
        try await put("1", "1", "a.db#notes")
        #expect(try await tool.run(["sync", "a.db#notes", "b.db"]).status == 0)
        let refused = try await tool.run(["serve", "a.db", "--without-tokens", "--port", "0"])
        #expect(refused.status == 64 && refused.errors.contains("synchronized"), "\(refused)")
    }

    /// Serves two collections with an item each, and synchronizes a file that has another one of each.
    ///
    /// - Returns: The server, and the start of the command that changes the rights of the token.
    private func serveTwoCollections() async throws -> (ServerProcess, grant: [String]) {
        for collection in ["notes", "tags"] { try await put("0", "0", "served.db#\(collection)") }
        let id = try await createToken(in: "token", for: ["notes", "tags"])
        let server = try await tool.serve([tool.path("served.db"), "--tokens", tool.path("tokens.db")])
        for collection in ["notes", "tags"] { try await put("1", "1", "a.db#\(collection)") }
        #expect(try await sync(with: server).text == "sent 2, received 2\n")
        return (server, ["token", "grant", tool.path("tokens.db"), id])
    }

    private func sync(with server: ServerProcess) async throws -> BodegaTool.Outcome {
        try await tool.run(["sync", "a.db", server.address, "--token-file", "token", "--timeout", "10"])
    }

    @Test("and sends what it may when the token loses its right to a collection, and gives up the rest")
    func lostCollection() async throws {
        let (server, grant) = try await serveTwoCollections()
        func sync() async throws -> BodegaTool.Outcome { try await self.sync(with: server) }
        #expect(try await tool.run(grant + ["--on", "notes"]).status == 0)
        for collection in ["tags", "notes"] { try await put("2", "2", "a.db#\(collection)") }
        let lost = try await sync()
        #expect(lost.status == 1 && lost.text == "sent 1, received 0\n")
        #expect(lost.errors.contains(#"The collection "tags" can't be read"#), "\(lost)")
        #expect(try await items("served.db") == ["0 0", "1 1", "2 2"])

        let discarded = try await tool.run(["outbox", "discard", "a.db", "2", "--collection", "tags"])
        #expect(discarded.status == 0 && discarded.text == "discarded 1\n", "\(discarded)")
        #expect(try await tool.run(["get", "a.db#tags", "2"]).status != 0)

        // What was written to it goes when the right comes back.
        try await put("3", "3", "a.db#tags")
        #expect(try await sync().status == 1)
        #expect(try await tool.run(grant + ["--on", "notes", "--on", "tags"]).status == 0)
        let back = try await sync()
        #expect(back.status == 0 && back.text == "sent 1, received 0\n", "\(back)")
        #expect(try await tool.run(["get", "served.db#tags", "3"]).text == "3")
        #expect(try await server.stop() == 0)
    }

    @Test("and keeps what it has to send while the token lacks the right to write")
    func lostRight() async throws {
        let (server, grant) = try await serveTwoCollections()
        func sync() async throws -> BodegaTool.Outcome { try await self.sync(with: server) }
        #expect(
            try await tool.run(grant + ["--on", "notes", "--on", "tags", "--rights", "read,observe"]).status == 0)
        for number in 2..<5 { try await put("x", "\(number)", "a.db#tags") }
        let lost = try await sync()
        #expect(lost.status == 1 && !lost.text.contains("refused"), "\(lost)")
        // The answer about the changes or the one about their request, whose end is asked for, arrives last.
        #expect(lost.errors.contains("The right to write items is missing"), "\(lost)")
        let outbox = try await tool.run(["outbox", "a.db"])
        #expect(!outbox.text.contains("permissionDenied") && !outbox.text.contains("sent"), "\(outbox)")
        let discarded = try await tool.run(["outbox", "discard", "a.db", "4", "--collection", "tags"])
        #expect(discarded.status == 0 && discarded.text == "discarded 1\n", "\(discarded)")
        #expect(try await tool.run(["get", "a.db#tags", "4"]).status != 0)
        #expect(try await tool.run(grant + ["--on", "notes", "--on", "tags"]).status == 0)
        let back = try await sync()
        #expect(back.status == 0 && back.text == "sent 2, received 0\n", "\(back)")
        #expect(try await tool.run(["count", "served.db#tags"]).text == "4\n")
        #expect(try await server.stop() == 0)
    }

    @Test("and goes on with a new token in the file, when the old one was revoked")
    func newToken() async throws {
        try await put("0", "0", "served.db#notes")
        let first = try await createToken(in: "token")
        let server = try await tool.serve([tool.path("served.db"), "--tokens", tool.path("tokens.db")])
        try await put("1", "1", "a.db#notes")
        let follower = try tool.process(["sync", "a.db#notes", server.address, "--follow", "--token-file", "token"])
        let output = Pipe()
        follower.standardOutput = output
        try follower.start()
        func line() async -> String {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let bytes = nextBytes(of: output.fileHandleForReading)
                    continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
                }
            }
        }
        #expect(await line().contains("accepted"))

        _ = try await createToken(in: "token")
        #expect(try await tool.run(["token", "revoke", tool.path("tokens.db"), first]).status == 0)
        try await put("2", "2", "a.db#notes")
        #expect(await line().contains("accepted"))
        #expect(try await items("served.db") == ["0 0", "1 1", "2 2"])
        follower.terminate()
        #expect(await line().isEmpty)
        #expect(try await server.stop() == 0)
    }

    @Test("and says why a token, a collection or a change is refused")
    func refusals() async throws {
        let served = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: tool.path("served.db")))
        let tags = try served.collection(named: "tags")
        try await tags.declareReferences([StorageReference("note", to: "notes", onRemoval: .refuse)])
        try await tags.write(Data(#"{"note":"1"}"#.utf8), key: CacheKey("t"))
        try await served.collection(named: "notes").write(Data(#"{"id":"1"}"#.utf8), key: CacheKey("1"))
        let token = try await tool.run(["token", "create", tool.path("tokens.db"), "Test", "--on", "notes"]).text
            .trimmingCharacters(in: .newlines)
        let server = try await tool.serve([tool.path("served.db"), "--tokens", tool.path("tokens.db")])
        try await put("1", "k", "a.db#notes")
        for (collection, environment, text, reason) in [
            ("notes", [:], "", "Give it with BODEGA_TOKEN or --token-file"),
            ("notes", ["BODEGA_TOKEN": token + "x"], "", "unauthorized"),
            ("tags", ["BODEGA_TOKEN": token], "sent 1, received 1\n", "no such collection"),
        ] as [(String, [String: String], String, String)] {
            let outcome = try await tool.run(
                ["sync", "a.db", server.address, "--collection", collection, "--verbose"], environment)
            #expect(outcome.status == 1 && outcome.text == text && outcome.errors.contains(reason), "\(outcome)")
            #expect(!outcome.errors.contains(token))
        }
        // A collection that neither side has is not created.
        let local = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: tool.path("a.db")))
        #expect(try await !local.collectionNames().contains("tags"))
        let misspelled = ["sync", "a.db", server.address, "--collection", "ntoes"]
        #expect(try await tool.run(misspelled, ["BODEGA_TOKEN": token]).status == 1)
        let again = try await tool.run(["sync", "a.db", server.address], ["BODEGA_TOKEN": token])
        #expect(again.status == 0, "\(again)")

        // The last of these has sent what the outbox had of the other collection.
        let sync = ["sync", "b.db#notes", server.address]
        #expect(try await tool.run(sync, ["BODEGA_TOKEN": token]).text == "sent 0, received 2\n")
        #expect(try await tool.run(["rm", "b.db#notes", "1"]).status == 0)
        let refused = try await tool.run(sync, ["BODEGA_TOKEN": token])
        #expect(refused.status == 1 && refused.text == "sent 0, received 0, refused 1\n", "\(refused)")
        #expect(refused.errors.contains("notes  \"1\"  referenced: "), "\(refused.errors)")
        #expect(try await tool.run(["outbox", "discard", "b.db", "1"]).text == "discarded 1\n")
        #expect(try await items("b.db") == [#"1 {"id":"1"}"#, "k 1"])

        // A collection that the token may not see holds up no other.
        try await put("2", "n", "c.db#notes")
        try await put("3", "t", "c.db#tags")
        for _ in 1...2 {
            let outcome = try await tool.run(
                ["sync", "c.db", server.address, "--collection", "notes", "--collection", "tags"],
                ["BODEGA_TOKEN": token])
            #expect(
                outcome.status == 1 && outcome.errors.contains(#"The collection "tags" can't be read"#), "\(outcome)")
            #expect(outcome.errors.contains("1 change stays in the outbox."), "\(outcome)")
        }
        #expect(try await items("c.db") == [#"1 {"id":"1"}"#, "k 1", "n 2"])
        #expect(try await served.collection(named: "notes").fetch(key: CacheKey("n")) == Data("2".utf8))
        #expect(try await server.stop() == 0)
    }
}
