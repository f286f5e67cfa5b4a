#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

/// Mistakes that are common at first use.
@Suite("At first use")
struct FirstUseTests {

    @Test("an invalid direction is refused, and a name with a colon can be sorted by")
    func directions() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = #"{"id":1,"dc:title":"b"}"# + "\n" + #"{"id":2,"dc:title":"a"}"# + "\n"
            _ = await bodega("import", store, "--key", "id", input: Array(lines.utf8))
            for sort in ["id:up", "dc:title", "id:", ":"] {
                let result = await bodega("query", store, "--sort", sort)
                #expect(result.status == 64 && result.output.isEmpty, "\(sort)")
                #expect(result.errors.contains("is not a direction. Write :asc or :desc"), "\(result.errors)")
            }
            let sorted = await bodega("query", store, "--sort", "dc:title:asc", "--select", "id")
            #expect(sorted == RunResult(status: 0, output: Array("2\t2\n1\t1\n".utf8), errors: ""))
        }
    }

    @Test("count and stat name the collections that they leave out", arguments: ["count", "stat"])
    func collections(command: String) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "a")
            #expect(await bodega(command, store).errors.isEmpty)
            for name in ["Quotes", "Drafts"] { _ = await bodega("put", store, "a", "--collection", name) }
            let result = await bodega(command, store)
            #expect(result.status == 0)
            let note = #"note: the file also has the collections "Quotes", "Drafts", which are not "#
            #expect(result.errors.contains(note), "\(result.errors)")
            // With a named collection there is no note.
            #expect(await bodega(command, store, "--collection", "Quotes").errors.isEmpty)
        }
    }

    @Test("for a file whose items are all in collections, their names are shown")
    func onlyCollections() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("store.db")
            let engine = try SQLiteStorageEngine(openingFile: file, collection: "Quotes")
            try await engine.write(Data(), key: CacheKey("a"))
            try await engine.close()
            let result = await bodega("count", file.path)
            #expect((result.text + result.errors).contains(#""Quotes""#), "\(result)")
        }
    }

    @Test("stat reports the space allocated on disk, which differs from the sizes of values and files")
    func allocation() async throws {
        struct Statistics: Decodable { var bytes, fileBytes, allocatedBytes: Int }
        func statistics(_ store: String) async throws -> Statistics {
            try JSONDecoder().decode(Statistics.self, from: Data(await bodega("stat", store, "--json").output))
        }
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            _ = await bodega("put", store, "small", input: Array("x".utf8))
            let small = try await statistics(store)
            #expect(small.bytes == 1 && small.allocatedBytes > small.fileBytes)
            let path = folder.appendingPathComponent("store/sparse").path
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let sparse = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try sparse.truncate(atOffset: 20_000_000)
            try sparse.close()
            let large = try await statistics(store)
            #expect(large.fileBytes >= 20_000_000 && large.allocatedBytes < 1_000_000)
            #expect(await bodega("stat", store).text.contains("on disk     \(large.allocatedBytes)\n"))
        }
    }

    @Test("get and rm accept keys of every kind as ls prints them", arguments: storeAddresses)
    func keysAsPrinted(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            let keys = [
                CacheKey("hashed"), CacheKey(verbatim: "index.html"),
                CacheKey(url: try #require(URL(string: "https://example.com/a"))), CacheKey("both"),
                CacheKey(verbatim: "both"),
            ]
            let engine = try StorageAddress(parsing: store).open()
            try await engine.write(keys.enumerated().map { ($1, Data("\($0)".utf8)) })
            let printed = await bodega("ls", store).text.split(separator: "\n").map(String.init)
            #expect(await bodega("get", store, printed[0], printed[1], printed[2]).text == "012")
            // Of two items, the hashed one; a flag selects the other.
            #expect(await bodega("get", store, "both").text == "3")
            #expect(await bodega("get", store, "both", "--verbatim").text == "4")
            #expect(
                await bodega("get", store, "hashed", "--verbatim").errors.contains("There is one without --verbatim."))
            #expect(await bodega("rm", store, printed[1], printed[2], "both").status == 0)
            #expect(await bodega("ls", store, "--json").text.contains(#"{"key":"both","kind":"verbatim"}"#))
            #expect(await bodega("count", store).text == "2\n")
        }
    }

    @Test(
        "get prints thousands of items in the order of the keys, as often as they are named, and misses what is missing"
    )
    func manyKeys() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let engine = try StorageAddress(parsing: store).open()
            try await engine.write((0..<8_000).map { (CacheKey("\($0)"), Data("\($0);".utf8)) })
            let wanted = (0..<8_000).reversed().map { "\($0)" } + ["7", "absent", "7"]
            let test = TestConsole()
            let status = await Tool.run(["get", store] + wanted, console: test.console)
            #expect(status == 3)
            #expect(test.output.text == wanted.filter { $0 != "absent" }.map { $0 + ";" }.joined())
            #expect(test.errors.text == "bodega: There is no item under the key \"absent\".\n")
        }
    }

    @Test("keys and options can stand in any order, with and without two hyphens")
    func orderOfArguments() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            for key in ["a", "b", "c", "-d", "--json"] {
                _ = await bodega("put", store, "--collection", "x", "--", key, input: Array(key.utf8))
            }
            for arguments in [
                [store, "--collection", "x", "a", "b", "c", "a"], ["--collection", "x", store, "a", "b", "c", "a"],
                [store, "a", "b", "--collection", "x", "c", "a"], [store, "a", "b", "c", "a", "--collection", "x"],
                [store, "a", "b", "c", "a", "--collection=x"], ["--collection", "x", "--", store, "a", "b", "c", "a"],
                ["--collection", "x", store, "a", "--", "b", "c", "a"],
            ] {
                let test = TestConsole()
                #expect(await Tool.run(["get"] + arguments, console: test.console) == 0, "\(arguments)")
                #expect(test.output.text == "abca", "\(arguments)")
            }
            let hyphens = await bodega("get", store, "--collection", "x", "--", "a", "-d", "--json", "--json")
            #expect(hyphens.text == "a-d--json--json")
            #expect(await bodega("get", store).status == 64)
            #expect(await bodega("rm", store, "a", "b", "c", "--all", "--yes").status == 64)
        }
    }

    @Test(
        "a JSON document is distinguished from lines, and its array is named",
        arguments: [
            ("{\n  \"version\": 3,\n  \"639-3\": [\n    {\"id\": 1}\n  ]\n}\n", "639-3"),
            (#"{"people":[{"id":1},{"id":2}]}"#, "people"), ("{\n  \"data\": {\n", "data.people"),
        ]
    )
    func documents(document: String, array: String) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let result = await bodega("import", store, "--key", "id", input: Array(document.utf8))
            #expect(result.status == 4)
            let hint = "If the input is one JSON document, name the array in it, such as --array \(array)."
            #expect(result.errors.contains(hint), "\(result.errors)")
            // Lines that are no object, and later ones, need no hint.
            for lines in ["[]x\n", "3\n", "{\"id\":1}\n{\n"] {
                let result = await bodega(
                    "import", store, "--key", "id", "--format", "ndjson", input: Array(lines.utf8))
                #expect(result.status == 4 && !result.errors.contains("--array"), "\(lines)")
            }
        }
    }

    @Test("import counts what it writes in place of other items and of earlier lines", arguments: storeAddresses)
    func replaced(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            let lines = Array((1...5).map { "{\"id\":\($0 % 3)}\n" }.joined().utf8)
            let first = await bodega("import", store, "--key", "id", "--batch-size", "2", input: lines)
            #expect(first.text == "imported 5, 2 of them in place of others\n")
            let second = await bodega("import", store, "--key", "id", "--json", input: lines)
            #expect(second.text.contains(#""imported":5,"replaced":5,"skipped":0"#), "\(second.text)")
        }
    }

    @Test("ls lists the keys that begin with a text, byte by byte")
    func prefix() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            for key in ["img/a", "e\u{301}", "img/b", "\u{E9}", "im"] { _ = await bodega("put", store, key) }
            #expect(await bodega("ls", store, "--prefix", "img/").text == "img/a\nimg/b\n")
            #expect(await bodega("ls", store, "--prefix", "img/", "--limit", "1").text == "img/a\n")
            #expect(await bodega("ls", store, "--prefix", "e").output == Array("e\u{301}\n".utf8))
            #expect(await bodega("ls", store, "--prefix", "").text.split(separator: "\n").count == 5)
        }
    }

    @Test("query counts")
    func queryCount() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = (1...9).map { "{\"id\":\($0)}\n" }.joined()
            _ = await bodega("import", store, "--key", "id", input: Array(lines.utf8))
            #expect(await bodega("query", store, "--where", "@.id > 4", "--count").text == "5\n")
            #expect(await bodega("query", store, "--where", "@.id > 9", "--count", "--json").text == "{\"count\":0}\n")
            #expect(await bodega("query", store, "--count", "--limit", "2").text == "2\n")
            #expect(await bodega("query", store, "--count", "--select", "id").status == 64)
        }
    }

    @Test("help fits 80 columns, and its examples fit without being broken")
    func help() async throws {
        let commands = [
            "import", "export", "ls", "get", "put", "rm", "count", "stat", "copy", "diff", "query", "watch", "verify",
            "backup", "compact", "keyset", "manual",
        ]
        for command in [[], ["keyset", "create"], ["keyset", "rotate"]] + commands.map({ [$0] }) {
            let narrow = await (try Terminal(BinaryTests.program, ["help"] + command, columns: 80)).finish().output
            let lines = narrow.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines.filter { $0.count > 80 })")
            let wide = await (try Terminal(BinaryTests.program, ["help"] + command, columns: 300)).finish().output
            let examples = wide.components(separatedBy: "EXAMPLES:\n").dropFirst().first ?? ""
            for example in examples.components(separatedBy: "\n\n")[0].split(separator: "\n") {
                #expect(narrow.contains(example), "\(example)")
            }
        }
    }
}
#endif
