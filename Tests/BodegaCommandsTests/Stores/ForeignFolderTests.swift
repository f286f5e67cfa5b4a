#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("A folder that is not a store")
struct ForeignFolderTests {

    /// Runs the tool with `STORE` in its arguments replaced.
    private func run(_ arguments: [String], on store: String, input: [UInt8] = []) async -> RunResult {
        let test = TestConsole(input: input)
        let status = await Tool.run(
            arguments.map { $0.replacingOccurrences(of: "STORE", with: store) }, console: test.console)
        return RunResult(status: status, output: test.output.bytes, errors: test.errors.text)
    }

    private static let commands = [
        ["ls", "STORE"], ["get", "STORE", "k"], ["count", "STORE"], ["stat", "STORE"], ["export", "STORE"],
        ["verify", "STORE"], ["query", "STORE"], ["diff", "STORE", "sqlite:STORE.copy"], ["watch", "STORE"],
        ["backup", "STORE", "STORE.backup"], ["copy", "STORE", "sqlite:STORE.copy"],
        ["copy", "sqlite:STORE.db", "STORE"],
        ["copy", "sqlite:STORE.db", "STORE", "--overwrite"], ["compact", "STORE"], ["put", "STORE", "k"],
        ["put", "STORE", "--verbatim", "data.sqlite3"], ["import", "STORE", "--key", "id"],
        ["rm", "STORE", "--all", "--yes"], ["rm", "STORE", "--verbatim", "data.sqlite3"],
    ]

    @Test(
        "but has a database is not changed, and each command names the database's address",
        arguments: ["data.sqlite3", "other.sqlite3", "app.DB", "Library"], ["", "disk:"])
    func database(name: String, scheme: String) async throws {
        try await withFolder { folder in
            let place = folder.appendingPathComponent("app").path
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            for file in ["\(place)/\(name)", place + ".db"] {
                #expect(await bodega("put", "sqlite:\(file)", "k", input: [1]).status == 0)
            }
            let before = try Listing(of: folder)
            for command in Self.commands {
                var arguments = command
                if !scheme.isEmpty {
                    arguments = command.map { $0 == "STORE" ? "\(scheme)STORE" : $0 }
                }
                let result = await run(arguments, on: place, input: Array(#"{"id":1}"#.utf8))
                #expect(result.status == (command[0] == "diff" ? 2 : 1), "\(command): \(result.text)")
                #expect(result.errors.contains("sqlite:\(place)/\(name)"), "\(command): \(result.errors)")
                #expect(try Listing(of: folder) == before, "after \(command)")
            }
        }
    }

    @Test("a store with an item of a database's name and content is a store")
    func databaseAsItem() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("data.sqlite3").path
            _ = await bodega("put", "sqlite:\(file)", "k", input: [1])
            let store = storeAddresses[1](folder)
            #expect(await bodega("put", store, "--verbatim", "data.sqlite3", file).status == 0)
            #expect(await bodega("ls", store).text == "data.sqlite3\n")
            #expect(await bodega("rm", store, "--all", "--yes").status == 0)
            #expect(await bodega("count", store).text == "0\n")
        }
    }

    @Test("is not emptied: files are recognized as items first", arguments: [false, true])
    func photos(isMixed: Bool) async throws {
        try await withFolder { folder in
            let place = folder.appendingPathComponent("photos").path
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            for name in ["a.jpg", "B0B-1.png", ".hidden", "0123-4567"] {
                try Data([1]).write(to: URL(fileURLWithPath: "\(place)/\(name)"))
            }
            if isMixed { #expect(await bodega("put", place, "k", input: [1]).status == 0) }
            let before = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
            let result = await bodega("rm", place, "--all", "--yes")
            #expect(result.status == 1)
            #expect(result.errors.contains("not recognized as items: "), "\(result.errors)")
            #expect(result.errors.contains(" and 3 more."))
            var asking = TestConsole(input: Array("y\n".utf8))
            (asking.console.isInputTerminal, asking.console.isErrorTerminal) = (true, true)
            #expect(await Tool.run(["rm", place, "--all"], console: asking.console) == 1)
            #expect(await bodega("compact", place).status == 0)
            #expect(await bodega("copy", place, "sqlite:\(place).db").status == 0)
            #expect(await bodega("rm", place, "--verbatim", "absent").status == 3)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == before)
            // A named item is removed.
            #expect(await bodega("rm", place, "--verbatim", "a.jpg").status == 0)
            #expect(await bodega("get", place, "--verbatim", "a.jpg").status == 3)
        }
    }

    @Test(
        "is not emptied if its files have random UUIDs for names, or hashes in a form that Bodega does not write",
        arguments: [["upper"], ["lower"], ["upper", "upper", "upper"], ["hash"]])
    func namesLikeHashes(kinds: [String]) async throws {
        try await withFolder { folder in
            let place = folder.appendingPathComponent("records").path
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            for kind in kinds {
                let name =
                    switch kind {
                    case "upper": UUID().uuidString
                    case "lower": UUID().uuidString.lowercased()
                    default: CacheKey("a").value.lowercased()
                    }
                try Data([1]).write(to: URL(fileURLWithPath: "\(place)/\(name)"))
            }
            // An item of this store does not make the others items.
            #expect(await bodega("put", place, "k", input: [1]).status == 0)
            let before = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
            let result = await bodega("rm", place, "--all", "--yes")
            #expect(result.status == 1)
            #expect(result.errors.contains("Other programs name files by such UUIDs"), "\(result.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == before)
        }
    }

    @Test("but one of the first Bodega, or a copy without attributes, is emptied, because its names are hashes")
    func oldStore() async throws {
        try await withFolder { folder in
            let place = folder.appendingPathComponent("store").path
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            // The hash of the last one has the form of a random UUID.
            for key in ["a", "b", "88"] {
                try Data([1]).write(to: URL(fileURLWithPath: "\(place)/\(CacheKey(key).value)"))
            }
            #expect(await bodega("count", place).text == "3\n")
            #expect(await bodega("rm", place, "--all", "--yes").status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
        }
    }

    @Test("a store with items of each kind is emptied", arguments: [["--verbatim"], [], ["--url"]])
    func allKinds(kind: [String]) async throws {
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            for key in ["http://a/b", ".hidden", "x.jpg", String(repeating: "l", count: 300), "ünï"] {
                let result = await run(["put", "STORE"] + kind + ["--", key], on: store, input: [1])
                #expect(result.status == 0 || kind == ["--url"], "\(result.errors)")
            }
            #expect(await bodega("rm", store, "--all", "--yes").status == 0)
            #expect(await bodega("count", store).text == "0\n")
        }
    }

    // MARK: An unfinished batch

    @Test("for an unfinished batch, each command that reads names the command that finishes it")
    func unfinishedBatch() async throws {
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            #expect(await bodega("put", store, "--verbatim", "note", input: [1]).status == 0)
            // A batch of one write that is committed but not carried out yet.
            let batch = folder.appendingPathComponent("store/.emporium/commit")
            try FileManager.default.createDirectory(at: batch, withIntermediateDirectories: true)
            try Data([2]).write(to: batch.appendingPathComponent("0"))
            try Data("Wnote\0E".utf8).write(to: batch.appendingPathComponent("list"))
            let advice = "bodega compact \(store)"
            for command in [
                ["ls", "STORE"], ["get", "STORE", "k"], ["count", "STORE"], ["stat", "STORE"], ["export", "STORE"],
                ["query", "STORE"], ["diff", "STORE", "STORE"], ["watch", "STORE"],
                ["copy", "STORE", "sqlite:\(folder.path)/copy.db"],
            ] {
                let result = await run(command, on: store)
                #expect(result.status == (command[0] == "diff" ? 2 : 1))
                #expect(result.errors.contains(advice), "\(command): \(result.errors)")
            }
            for arguments in [["verify", "STORE"], ["verify", "STORE", "--json"]] {
                let result = await run(arguments, on: store)
                #expect(result.status == 1)
                #expect(result.text.contains(advice))
                #expect(!(result.text + result.errors).contains("estore"), "\(result.errors)")
            }
            #expect(await bodega("compact", store).status == 0)
            #expect(await bodega("get", store, "--verbatim", "note").output == [2])
            #expect(await bodega("verify", store).text == "no problem found, 1 item read\n")
        }
    }
}
#endif
