#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("Messages of the tool")
struct MessageTests {

    @Test("use the singular for one", arguments: storeAddresses)
    func singular(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            _ = await bodega("put", store, "a", input: [1])
            #expect(await bodega("verify", store).text.hasSuffix("1 item read\n"))
            let bad = Array(#"{"id":1}"#.utf8) + Array("\n{".utf8)
            let imported = await bodega("import", store, "--key", "id", "--batch-size", "1", input: bad)
            #expect(imported.errors.hasSuffix("The item of the batches before it was imported, the others not.\n"))
            let removed = await bodega("rm", store, "--all", "--yes")
            #expect(removed.status == 0)
            // Numbers and nouns that don't agree.
            for command in [
                ["count", store], ["verify", store], ["stat", store], ["compact", store], ["ls", store, "--long"],
            ] {
                let test = TestConsole()
                _ = await bodega("put", store, "only", input: [1])
                _ = await Tool.run(command, console: test.console)
                let text = test.output.text + test.errors.text
                #expect(text.firstMatch(of: /(^|\D)1 (items|bytes|files|keys)\b/) == nil, "\(text)")
            }
        }
    }

    @Test("name a store that does not exist as missing, and ask for its kind only to create it")
    func missingStore() async throws {
        try await withFolder { folder in
            let path = folder.path + "/nosuch"
            for command in [
                ["ls", path], ["get", path, "k"], ["count", path + "#c"], ["stat", path], ["copy", path, "disk:x"],
                ["rm", path, "k"], ["verify", path], ["compact", path], ["backup", path, "x.db"], ["watch", path],
                ["query", path], ["export", path],
            ] {
                let test = TestConsole()
                #expect(await Tool.run(command, console: test.console) == 1, "\(command)")
                #expect(test.errors.text.hasPrefix("bodega: There is no store at \(path)"), "\(test.errors.text)")
            }
            #expect(await bodega("diff", path, path).status == 2)
            let created = await bodega("put", path, "k", input: [1])
            #expect(created.status == 64)
            #expect(created.errors.contains("could be any kind of store"))
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files == [])
        }
    }

    @Test(
        "name an invalid number as such, and not as an option",
        arguments: [
            ["ls", "--limit", "-1"], ["query", "--limit", "-1"], ["watch", "--interval", "-1"],
            ["import", "--key", "id", "--batch-size", "-1"],
        ])
    func negativeNumbers(_ command: [String]) async throws {
        let test = TestConsole()
        #expect(await Tool.run([command[0], "x.db"] + command[1...], console: test.console) == 64)
        #expect(test.errors.text.hasPrefix("bodega: \(command[command.count - 2]) must "), "\(test.errors.text)")
    }

    @Test("refuse a path of an index that is empty in part or very long")
    func indexPaths() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "a", input: Array(#"{"a":{"":{"b":1}}}"#.utf8))
            for path in ["", "a.", ".a", "a..b", String(repeating: "x", count: 1001)] {
                #expect(await bodega("query", store, "--index", path).status == 64, "\(path)")
            }
            #expect(await bodega("query", store, "--indexes").text == "")
            let longest = String(repeating: "x", count: 1000)
            #expect(await bodega("query", store, "--index", longest, "--indexes").text == "\(longest)\tvalue\n")
        }
    }

    #if canImport(Glibc)
    @Test("of compact name a folder that can't be read, and the system's reason")
    func unreadableFolder() async throws {
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            _ = await bodega("put", store, "a", input: [1])
            // A path that is too long can be made in two steps, but not listed, even by root.
            let script = #"""
                cd "$1" || exit 99
                half=$(printf '%0250d/' 1 2 3 4 5 6 7 8 9 10)
                mkdir -p "one/$half" "two/$half" && mv two "one/$half"
                """#
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", script, "sh", folder.path + "/store"]
            try process.start()
            await blocking { process.waitUntilExit() }
            try #require(process.terminationStatus == 0)
            for command in ["compact", "stat"] {
                let result = await bodega(command, store)
                #expect(result.status == 1)
                #expect(
                    result.errors.hasSuffix(" can't be read: File name too long.\n"), "\(result.errors.suffix(300))")
            }
            let removal = Process()
            removal.executableURL = URL(fileURLWithPath: "/bin/rm")
            removal.arguments = ["-r", folder.path + "/store/one"]
            try removal.start()
            await blocking { removal.waitUntilExit() }
        }
    }
    #endif
}
#endif
