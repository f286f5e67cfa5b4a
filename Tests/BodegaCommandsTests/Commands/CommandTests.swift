#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import Testing

@Suite("The tool")
struct CommandTests {

    private let three = Array("{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c\"}\n".utf8)

    @Test("puts, gets, lists, counts and removes", arguments: storeAddresses)
    func lifeOfAnItem(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            let bytes: [UInt8] = [0xFF, 0, 0x0A, 0x41]
            #expect(await bodega("put", store, "k", input: bytes) == RunResult(status: 0, output: [], errors: ""))
            #expect(await bodega("put", store, "other", "-", input: []).status == 0)
            #expect(await bodega("get", store, "k") == RunResult(status: 0, output: bytes, errors: ""))
            #expect(await bodega("get", store, "k", "other", "k").output == bytes + bytes)
            #expect(await bodega("ls", store).text == "k\nother\n")
            #expect(await bodega("ls", store, "--limit", "1", "-0").text == "k\0")
            #expect(await bodega("count", store).text == "2\n")
            #expect(await bodega("count", store, "--json").text == "{\"count\":2}\n")
            #expect(await bodega("rm", store, "k") == RunResult(status: 0, output: [], errors: ""))
            #expect(await bodega("ls", store, "--json").text == #"{"key":"other","kind":"hashed"}"# + "\n")
            #expect(await bodega("rm", store, "--all", "--yes").status == 0)
            #expect(await bodega("count", store).text == "0\n")
        }
    }

    @Test("imports its own exports, byte for byte, between engines", arguments: storeAddresses)
    func roundTrip(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            let engine = try StorageAddress(parsing: store).open()
            try await engine.write(Hostile.items)
            let exported = await bodega("export", store)
            #expect(exported.status == 0)
            for (index, target) in storeAddresses.enumerated() {
                let copy = target(folder.appendingPathComponent("copy \(index)"))
                let imported = await bodega("import", copy, "--batch-size", "50", input: exported.output)
                #expect(imported.text == "imported \(Hostile.items.count)\n")
                let items = try await StorageAddress(parsing: copy).open().fetchAll()
                #expect(items.map(\.key) == Hostile.items.map(\.key))
                #expect(items.map(\.data) == Hostile.items.map(\.data))
                #expect(await bodega("export", copy).output == exported.output)
            }
        }
    }

    @Test("replaces an older file atomically when an export is complete")
    func exportToFile() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: three)
            let file = folder.appendingPathComponent("out.ndjson")
            try Data("old".utf8).write(to: file)
            #expect(
                await bodega("export", store, "--output", file.path) == RunResult(status: 0, output: [], errors: ""))
            #expect(try Data(contentsOf: file) == Data(await bodega("export", store).output))
            #expect(await bodega("export", storeAddresses[1](folder), "--output", file.path).status == 1)
            #expect(try Data(contentsOf: file).starts(with: Data(#"{"$bodega""#.utf8)))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.contains("out.ndjson")
            }
            #expect(names == ["out.ndjson"])
        }
    }

    @Test("keeps the permissions of a file that an export replaces", arguments: [0o600, 0o640, 0o666])
    func exportKeepsPermissions(permissions: Int) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: three)
            let file = folder.appendingPathComponent("out.ndjson")
            try Data("old".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)

            let output = try OutputFile(path: file.path)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            let draft = try #require(names.first { $0.hasPrefix(".out.ndjson.") })
            #expect(try self.permissions(of: folder.appendingPathComponent(draft)) == 0o600)
            try output.commit()
            #expect(try self.permissions(of: file) == permissions)

            #expect(await bodega("export", store, "-o", file.path).status == 0)
            #expect(try self.permissions(of: file) == permissions)
            let new = folder.appendingPathComponent("new.ndjson")
            #expect(await bodega("export", store, "-o", new.path).status == 0)
            let usual = folder.appendingPathComponent("usual")
            try Data().write(to: usual)
            #expect(try self.permissions(of: new) == self.permissions(of: usual))
        }
    }

    private func permissions(of file: URL) throws -> Int? {
        let value = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        return (value as? NSNumber)?.intValue
    }

    @Test("exports directly to a device, and through a symbolic link to its target")
    func exportToOddPlaces() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: three)
            let link = folder.appendingPathComponent("link")
            let file = folder.appendingPathComponent("file")
            try Data("old".utf8).write(to: file)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            #expect(await bodega("export", store, "--output", link.path).status == 0)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)
            #expect(try Data(contentsOf: file) == Data(await bodega("export", store).output))

            let device = folder.appendingPathComponent("device")
            try FileManager.default.createSymbolicLink(atPath: device.path, withDestinationPath: "/dev/null")
            #expect(await bodega("export", store, "--output", device.path).status == 0)
            let type = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
            #expect(type == .typeCharacterSpecial)
            #expect(await bodega("export", store, "--output", folder.path).status == 1)
        }
    }

    @Test("stops at a bad line, names it, and imports nothing of its batch")
    func badLine() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let input = three + Array("{\"id\":\"d\"}\n{\"id\":\n{\"id\":\"f\"}\n".utf8)
            let stopped = await bodega("import", store, "--key", "id", "--batch-size", "3", "--json", input: input)
            #expect(stopped.status == 4)
            #expect(stopped.errors.hasPrefix("bodega: line 5: "))
            #expect(stopped.text.hasPrefix(#"{"imported":3,"replaced":0,"skipped":0,"#))
            #expect(stopped.text.contains(#""error":"line 5: "#))
            #expect(await bodega("ls", store).text == "a\nb\nc\n")

            let skipped = await bodega("import", store, "--key", "id", "--skip-bad", "--json", input: input)
            #expect(skipped.status == 0)
            #expect(skipped.text.hasPrefix(#"{"imported":5,"replaced":3,"skipped":1,"bytes":50,"#))
            #expect(skipped.errors.hasPrefix("bodega: line 5: "))
            #expect(await bodega("ls", store).text == "a\nb\nc\nd\nf\n")
        }
    }

    @Test("imports an array from a file, and a folder under verbatim keys")
    func importsFiles() async throws {
        try await withFolder { folder in
            let source = folder.appendingPathComponent("source")
            try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
            let file = source.appendingPathComponent("list.json")
            try Data(#"{"639-3":[{"alpha_3":"aaa"},{"alpha_3":"aab"}]}"#.utf8).write(to: file)
            let store = storeAddresses[0](folder)
            let array = await bodega("import", store, file.path, "--array", "639-3", "--key", "alpha_3")
            #expect(array == RunResult(status: 0, output: Array("imported 2\n".utf8), errors: ""))
            #expect(
                await bodega("import", store, source.path, "--quiet") == RunResult(status: 0, output: [], errors: ""))
            #expect(await bodega("get", store, "--verbatim", "list.json").output == Array(try Data(contentsOf: file)))
            let hint = await bodega("get", store, "--url", "list.json")
            #expect(hint.status == 3)
            #expect(hint.errors.contains("There is one without --url."))
            #expect(await bodega("import", "disk:\(source.path)/store", source.path).status == 64)
        }
    }

    @Test("reports an import that fails before it begins as JSON, too")
    func earlyFailureAsJSON() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let cases: [(arguments: [String], status: Int32)] = [
                ([store, folder.path + "/absent", "--key", "id"], 1),  // no input
                (["sqlite:\(folder.path)", "--key", "id"], 1),  // a store that can't be opened
                ([store], 64),  // no key
                (["no-such-thing", "--key", "id"], 64),  // no engine
                ([store, "--key", ""], 64),
            ]
            for (arguments, status) in cases {
                let test = TestConsole(input: three)
                #expect(await Tool.run(["import", "--json"] + arguments, console: test.console) == status)
                #expect(
                    test.output.text.hasPrefix(#"{"imported":0,"replaced":0,"skipped":0,"bytes":0,"#), "\(arguments)")
                #expect(test.output.text.contains(#","error":""#))
                #expect(test.errors.text.hasPrefix("bodega: "))
            }
        }
    }

    @Test("reports which batches were imported when a write fails")
    func failureBetweenBatches() async throws {
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            // A file can't take a folder's place.
            let obstacle = folder.appendingPathComponent("store/c")
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
            let stopped = await bodega("import", store, "--key", "id", "--verbatim", "--batch-size", "2", input: three)
            #expect(stopped.status == 1)
            #expect(stopped.errors.hasSuffix(" Before that, 2 items were imported.\n"))
            #expect(await bodega("ls", store).text == "a\nb\n")
        }
    }

    @Test("keeps collections of a file apart, and doesn't create one to read it")
    func collections() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "--collection", "drafts", "k", input: [1])
            #expect(await bodega("count", store).text == "0\n")
            #expect(await bodega("count", store, "--collection", "drafts").text == "1\n")
            #expect(await bodega("count", store, "--collection", "other").status == 1)
            #expect(await bodega("stat", store, "--json").text.contains(#""collections":["drafts"]"#))
            #expect(await bodega("put", storeAddresses[1](folder), "--collection", "drafts", "k").status == 64)
        }
    }

    @Test(
        "creates no files when it only reads",
        arguments: storeAddresses,
        [["ls"], ["count"], ["stat"], ["export"], ["get", "k"], ["rm", "k"], ["rm", "--all", "--yes"]]
    )
    func missingStore(address: @Sendable (URL) -> String, command: [String]) async throws {
        try await withFolder { folder in
            let test = TestConsole()
            let arguments = [command[0], address(folder)] + command.dropFirst()
            #expect(await Tool.run(arguments, console: test.console) == 1)
            #expect(test.errors.text.hasPrefix("bodega: There is no store at "))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.isEmpty)
        }
    }

    @Test("leaves no store behind when the input of an import is invalid")
    func importWithoutInput() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            #expect(await bodega("import", store, input: three).status == 64)
            #expect(await bodega("import", store, folder.path + "/absent").status == 1)
            #expect(await bodega("put", store, "k", folder.path + "/absent").status == 1)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.isEmpty)
        }
    }

    @Test("reports missing keys with exit status 3, after doing the rest")
    func missingKeys() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: three)
            let got = await bodega("get", store, "a", "x", "b")
            #expect(got.status == 3)
            #expect(got.text == #"{"id":"a"}{"id":"b"}"#)
            #expect(got.errors == "bodega: There is no item under the key \"x\".\n")
            #expect(await bodega("rm", store, "a", "x").status == 3)
            #expect(await bodega("ls", store).text == "b\nc\n")
        }
    }

    @Test("asks before it removes all items, and refuses without a terminal")
    func confirmation() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: three)
            #expect(await bodega("rm", store, "--all").status == 64)
            for (answer, count) in [("n\n", "3\n"), ("", "3\n"), ("yes\n", "0\n")] {
                let asked = await bodega("rm", store, "--all", input: Array(answer.utf8)) {
                    $0.isInputTerminal = true
                    $0.isErrorTerminal = true
                }
                #expect(asked.errors.hasPrefix("Remove all 3 items from sqlite:"))
                #expect(asked.status == (count == "3\n" ? 1 : 0))
                #expect(await bodega("count", store).text == count)
            }
        }
    }

    @Test("escapes control characters in keys on a terminal only")
    func escapesKeys() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "a\u{1B}[31m\n")
            #expect(await bodega("ls", store).text == "a\u{1B}[31m\n\n")
            #expect(await bodega("ls", store) { $0.isOutputTerminal = true }.text == "a\\u{1B}[31m\\n\n")
            #expect(await bodega("ls", store, "--json").text == #"{"key":"a\u001b[31m\n","kind":"hashed"}"# + "\n")
        }
    }

    @Test("reports sizes, dates and damage", arguments: storeAddresses)
    func statistics(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            _ = await bodega("import", store, "--key", "id", input: three)
            let stat = await bodega("stat", store, "--json")
            #expect(stat.text.contains(#""count":3,"bytes":30,"largest":10,"#))
            #expect(stat.text.contains(#""oldest":""#))
            let long = await bodega("ls", store, "--long", "--json").text.split(separator: "\n")
            #expect(long.count == 3)
            #expect(long[0].hasPrefix(#"{"key":"a","kind":"hashed","size":10,"createdAt":""#))
            let checked = await bodega("stat", store, "--check")
            #expect(checked.status == (store.hasPrefix("sqlite") ? 0 : 64))
        }
    }

    @Test("reports the damage of a file even if its items can't be read")
    func damagedFile() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = (0..<2_000).map { "{\"id\":\"\($0)\",\"text\":\"\(String(repeating: "x", count: 100))\"}\n" }
            _ = await bodega("import", store, "--key", "id", "--quiet", input: Array(lines.joined().utf8))
            #expect(await bodega("stat", store, "--check").status == 0)
            let file = try FileHandle(forUpdating: folder.appendingPathComponent("store.db"))
            // A page in the middle, after the schema: the file can be opened, but not all items can be read.
            try file.seek(toOffset: 16 * 4096)
            try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
            try file.close()

            let text = await bodega("stat", store, "--check")
            #expect(text.status == 1)
            #expect(text.text.contains("\nproblem     "))
            #expect(!text.text.contains("\nitems "))
            #expect(text.errors.hasPrefix("bodega: Not all items can be read: damaged: "))
            #expect(text.errors.contains("\nbodega: The file is damaged. Restore it from a backup."))
            let json = await bodega("stat", store, "--check", "--json")
            #expect(json.status == 1)
            #expect(json.text.contains(#""problems":[""#))
            #expect(!json.text.contains(#""count":"#))
            #expect(await bodega("stat", store).status == 1)
        }
    }

    @Test("ends quietly when the reader of its output closes it")
    func brokenPipe() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: three)
            let result = await bodega("ls", store) { $0.output = ClosedSink() }
            #expect(result == RunResult(status: 141, output: [], errors: ""))
        }
    }

    @Test(
        "explains invalid arguments on standard error, with exit status 64",
        arguments: [
            ["frobnicate"], ["ls"], ["ls", "x.db", "--limit", "-1"], ["get", "x.db"], ["rm", "x.db"],
            ["ls", "foo:bar"], ["help", "frobnicate"], ["help", "keyset", "frobnicate"],
            ["import", "x.db", "--batch-size", "0"], ["get", "x.db", "--url", "--verbatim", "k"],
            ["rm", "x.db", "k", "--all"],
        ]
    )
    func wrongArguments(_ arguments: [String]) async {
        let test = TestConsole()
        #expect(await Tool.run(arguments, console: test.console) == 64)
        #expect(test.errors.text.hasPrefix("bodega: "))
        #expect(test.output.bytes.isEmpty)
    }

    @Test(
        "has help with examples for every command",
        arguments: ["import", "export", "ls", "get", "put", "rm", "count", "stat"]
    )
    func help(_ command: String) async {
        for arguments in [[command, "--help"], ["help", command]] {
            let test = TestConsole()
            #expect(await Tool.run(arguments, console: test.console) == 0)
            #expect(test.output.text.contains("EXAMPLES:\n"))
            #expect(test.output.text.contains("bodega \(command) "))
            #expect(test.errors.bytes.isEmpty)
        }
    }

    @Test("explains in its help how to write keys that begin with a hyphen", arguments: ["get", "put", "rm"])
    func hyphenHelp(_ command: String) async {
        #expect(await bodega("help", command).text.contains("Write -- before"))
    }

    @Test("documents its exit statuses and knows its version")
    func rootHelp() async {
        let help = await bodega("--help")
        #expect(help.text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("Bodega 2 WAL mode"))
        for status in ExitStatus.allCases { #expect(help.text.contains("\n  \(status.rawValue) ")) }
        #expect(await bodega().text == help.text)
        let version = await bodega("--version")
        #expect(version.status == 0)
        #expect(version.text.split(separator: ".").count == 3)
    }

    @Test("put and rm report their results as JSON")
    func changesAsJSON() async throws {
        try await withFolder { folder in
            let store = folder.appendingPathComponent("notes.db").path
            let put = await bodega("put", store, "a\n", "--json", input: [1, 2])
            #expect(put.status == 0)
            #expect(put.text == #"{"key":"a\n","kind":"hashed","bytes":2}"# + "\n")
            _ = await bodega("put", store, "--verbatim", "b", input: [1])
            let some = await bodega("rm", store, "a\n", "c", "--json")
            #expect(some.status == 3)
            #expect(some.text == #"{"removed":1}"# + "\n")
            let all = await bodega("rm", store, "--all", "--yes", "--json")
            #expect(all.status == 0)
            #expect(all.text == #"{"removed":1}"# + "\n")
        }
    }
}
#endif
