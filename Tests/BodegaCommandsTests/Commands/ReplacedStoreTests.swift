#if CommandLineTool
@testable import BodegaCommands
import Foundation
import Testing

/// Files that a command would write in place of the store that it reads.
@Suite("A store is not replaced")
struct ReplacedStoreTests {

    @Test("by an export or a backup of it")
    func ownFile() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("notes.db")
            let store = "sqlite:\(file.path)"
            #expect(await bodega("put", store, "a", input: Array("1".utf8)).status == 0)
            #expect(await bodega("put", "\(store)#drafts", "b", input: Array("2".utf8)).status == 0)
            let link = folder.appendingPathComponent("link.ndjson")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            let other = folder.appendingPathComponent("other")
            try FileManager.default.createSymbolicLink(at: other, withDestinationURL: folder)
            let before = try Data(contentsOf: file)
            let paths =
                [
                    file.path, link.path, "\(other.path)/notes.db",
                    "\(folder.path)/../\(folder.lastPathComponent)/notes.db",
                ]
                + ["-wal", "-shm", "-journal"].flatMap { [file.path + $0, "\(other.path)/notes.db\($0)"] }
            for path in paths {
                for arguments in [["export", store, "--output", path], ["backup", store, path, "--force"]] {
                    let result = await bodega(arguments: arguments)
                    #expect(result.status == 64 && result.errors.contains("would replace"), "\(arguments): \(result)")
                }
            }
            #expect(try Data(contentsOf: file) == before)
            #expect(await bodega("get", "\(store)#drafts", "b").text == "2")
            #expect(await bodega("export", store, "--output", "\(folder.path)/notes.db.ndjson").status == 0)
        }
    }

    @Test("in part by an export into a folder of items")
    func ownFolder() async throws {
        try await withFolder { folder in
            let items = folder.appendingPathComponent("items")
            let store = "disk:\(items.path)"
            #expect(await bodega("put", store, "a", input: Array("1".utf8)).status == 0)
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: items.path).first { $0 != ".lock" })
            for path in [name, "new", "deep/new"] {
                let result = await bodega("export", store, "--output", "\(items.path)/\(path)")
                #expect(result.status == 64 && result.errors.contains("would replace"), "\(path): \(result)")
            }
            #expect(await bodega("get", store, "a").text == "1")
            #expect(await bodega("export", store, "--output", "\(items.path).ndjson").status == 0)
        }
    }

    @Test("by a command whose key looks like a request of help", arguments: ["-hello", "-oh", "-dash"])
    func notHelp(key: String) async throws {
        try await withFolder { folder in
            let store = "sqlite:\(folder.path)/notes.db"
            #expect(await bodega("put", store, "--", key, input: Array("1".utf8)).status == 0)
            for command in ["put", "rm", "get"] {
                let result = await bodega(command, store, key, input: Array("2".utf8))
                #expect(
                    result.status == 64 && result.text == "" && result.errors.contains(key), "\(command): \(result)")
            }
            #expect(await bodega("get", store, "--", key).text == "1")
            #expect(await bodega("put", "-h").text.contains("USAGE"))
        }
    }

    @Test("and one whose first bytes are damaged is a failure, not an invalid argument")
    func damagedHeader() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("notes.db")
            #expect(await bodega("put", file.path, "a", input: Array("1".utf8)).status == 0)
            var data = try Data(contentsOf: file)
            data[0] ^= 0xFF
            try data.write(to: file)
            for command in ["verify", "count", "stat"] {
                let result = await bodega(command, file.path)
                #expect(result.status == 1 && result.errors.contains("damaged"), "\(command): \(result)")
            }
            #expect(await bodega("count", "\(file.path)#drafts").status == 1)
        }
    }
}
#endif
