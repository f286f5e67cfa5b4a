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
    private func createToken(in file: String) async throws -> String {
        let text = try await tool.run(["token", "create", tool.path("tokens.db"), "Test", "--on", "notes"]).text
        try Data(text.utf8).write(to: URL(fileURLWithPath: tool.path(file)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tool.path(file))
        return String(try #require(text.split(separator: "_").dropFirst().first))
    }

    @Test("but not by a server of the synchronized file itself, which would not pass on what its clients write")
    func relay() async throws {
        try await put("1", "1", "a.db#notes")
        #expect(try await tool.run(["sync", "a.db#notes", "b.db"]).status == 0)
        let refused = try await tool.run(["serve", "a.db", "--without-tokens", "--port", "0"])
        #expect(refused.status == 64 && refused.errors.contains("synchronized"), "\(refused)")
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
        for (collection, environment, reason) in [
            ("notes", [:], "Give it with BODEGA_TOKEN or --token-file"),
            ("notes", ["BODEGA_TOKEN": token + "x"], "unauthorized"),
            ("tags", ["BODEGA_TOKEN": token], "no such collection"),
        ] as [(String, [String: String], String)] {
            let outcome = try await tool.run(
                ["sync", "a.db", server.address, "--collection", collection, "--verbose"], environment)
            #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.contains(reason), "\(outcome)")
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
