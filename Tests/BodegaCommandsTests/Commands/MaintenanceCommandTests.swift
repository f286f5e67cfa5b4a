#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("Comparing, verifying, backing up and compacting")
struct MaintenanceCommandTests {

    private func fill(_ store: String, _ items: [(String, String)]) async throws {
        for (key, value) in items { _ = await bodega("put", store, key, input: Array(value.utf8)) }
    }

    // MARK: diff

    @Test("diff lists added, removed and changed items, with the exit status of diff")
    func diff() async throws {
        try await withFolder { folder in
            let (first, second) = (storeAddresses[0](folder), storeAddresses[1](folder))
            try await fill(first, [("same", "1"), ("gone", "22"), ("other", "333")])
            try await fill(second, [("new", "1"), ("other", "4"), ("same", "1")])
            #expect(
                await bodega("diff", first, second)
                    == RunResult(status: 1, output: Array("- gone\n~ other\n+ new\n".utf8), errors: ""))
            #expect(
                await bodega("diff", first, second, "--json").text == """
                    {"change":"removed","key":"gone","kind":"hashed","before":2}
                    {"change":"changed","key":"other","kind":"hashed","before":3,"after":1}
                    {"change":"added","key":"new","kind":"hashed","after":1}

                    """)
            #expect(await bodega("diff", "--quiet", first, second) == RunResult(status: 1, output: [], errors: ""))
            #expect(await bodega("diff", first, first) == RunResult(status: 0, output: [], errors: ""))
            #expect(await bodega("diff", first, "disk:\(folder.path)/absent").status == 2)
            #expect(await bodega("diff", first, "nothing").status == 2)
            #expect(await bodega("diff", first, "foo:nothing").status == 64)
            #expect(
                await bodega("diff", "--color", "always", first, second).text.hasPrefix("\u{1B}[31m- gone\u{1B}[0m\n"))
        }
    }

    // MARK: verify

    @Test("verify finds no problem in an intact store", arguments: storeAddresses)
    func sound(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            try await fill(store, [("a", "{}"), ("b", "[1]")])
            let sound = Array("no problem found, 2 items read\n".utf8)
            let result = await bodega("verify", store)
            #expect(result.output == sound && result.status == 0)
            #expect(result.errors.hasPrefix("bodega: note: this can't find changed bytes of an item, "))
            #expect(await bodega("verify", store, "--expect-json").status == 0)
            #expect(
                await bodega("verify", store, "--json").text.hasPrefix(
                    "{\"items\":2,\"problems\":[],\"remarks\":[],\"unnoticed\":[\""))
            #expect(await bodega("verify", store, "--quiet") == RunResult(status: 0, output: [], errors: ""))
        }
    }

    @Test("verify names items that are not JSON", arguments: storeAddresses)
    func notJSON(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            try await fill(store, [("a", "{}"), ("b", "{"), ("c", "1 2")])
            #expect(await bodega("verify", store).status == 0)
            let result = await bodega("verify", store, "--expect-json")
            #expect(result.status == 1)
            #expect(
                result.text == """
                    problem: The item is not JSON. [key "b"]
                    problem: The item is not JSON. [key "c"]
                    3 items read

                    """)
            #expect(result.errors.contains("bodega: There are problems. Restore the store from a backup."))
        }
    }

    @Test("verify reads all collections, and finds lost and foreign tables and invalid dates")
    func collections() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            try await fill(store, [("a", "1")])
            try await fill(store + "#named", [("b", "1"), ("c", "x")])
            #expect(await bodega("verify", store).text == "no problem found, 3 items read\n")
            #expect(
                await bodega("verify", store + "#named", "--expect-json").text.contains(
                    "collection \"named\" is not JSON"))
            let file = folder.appendingPathComponent("store.db").path
            try sqlite(file, "CREATE TABLE notes (x)")
            #expect(
                await bodega("verify", store).text == """
                    remark: The file also has the table "notes" of another program.
                    no problem found, 3 items read

                    """)
            try sqlite(file, "UPDATE data SET createdAt = 'never'; DELETE FROM emporium_collections")
            let result = await bodega("verify", store)
            #expect(result.status == 1)
            #expect(result.text.contains("has an invalid date, \"never\""))
            #expect(
                result.text.contains(
                    "problem: The table \"emporium_collection_1\" has 2 items and belongs to no collection."))
        }
    }

    @Test("verify reports the damage of a file")
    func damaged() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let engine = try StorageAddress(parsing: store).open()
            try await engine.write((0..<2000).map { (CacheKey("\($0)"), Data(count: 100)) })
            try await (engine as? SQLiteStorageEngine)?.close()
            let file = folder.appendingPathComponent("store.db")
            var bytes = try Data(contentsOf: file)
            bytes.replaceSubrange(8192..<40_000, with: Data(repeating: 0xAA, count: 40_000 - 8192))
            try bytes.write(to: file)
            let result = await bodega("verify", store)
            #expect(result.status == 1)
            #expect(result.text.hasPrefix("problem: The file is damaged: "))
            #expect(try Data(contentsOf: file) == bytes)
            try bytes.prefix(5000).write(to: file)
            #expect(await bodega("verify", store).status == 1)
        }
    }

    @Test("verify reports leftover files in a folder, and compact removes them")
    func leftInFolder() async throws {
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            try await fill(store, [("a", "1")])
            let control = folder.appendingPathComponent("store/.emporium")
            let keys = control.appendingPathComponent("keys")
            try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
            try Data("half".utf8).write(to: control.appendingPathComponent("item"))
            try Data("gone".utf8).write(to: keys.appendingPathComponent("gone"))
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("store/sub"), withIntermediateDirectories: false)
            let result = await bodega("verify", store)
            #expect(result.status == 0)
            #expect(result.text.split(separator: "\n").filter { $0.hasPrefix("remark: ") }.count == 3)
            #expect(await bodega("compact", store).text.hasSuffix(" after\n"))
            #expect(!FileManager.default.fileExists(atPath: control.path))
            #expect(await bodega("get", store, "a").text == "1")
            let batch = control.appendingPathComponent("commit")
            try FileManager.default.createDirectory(at: batch, withIntermediateDirectories: true)
            let interrupted = await bodega("verify", store)
            #expect(interrupted.status == 1)
            #expect(interrupted.text.contains("in the middle of a batch"))
        }
    }

    // MARK: backup and compact

    @Test("backup makes a copy with all collections, and replaces a file only with --force")
    func backup() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            try await fill(store, [("a", "1")])
            try await fill(store + "#named", [("b", "1")])
            let copy = folder.appendingPathComponent("copies/copy.db").path
            let made = await bodega("backup", store, copy, "--json")
            #expect(made.status == 0)
            #expect(made.text.hasPrefix(#"{"path":"\#(copy)","bytes":"#))
            #expect(await bodega("get", copy + "#named", "b").text == "1")
            try await fill(store, [("new", "1")])
            let refused = await bodega("backup", store, copy)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("Give --force"))
            #expect(await bodega("count", copy).text == "1\n")
            #expect(
                await bodega("backup", store, copy, "--force", "--quiet")
                    == RunResult(status: 0, output: [], errors: ""))
            #expect(await bodega("count", copy).text == "2\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/copies") == ["copy.db"])
        }
    }

    @Test("backup refuses destinations where it would cause damage")
    func badPlaces() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            try await fill(store, [("a", "1")])
            let file = folder.appendingPathComponent("store.db").path
            #expect(await bodega("backup", store, file, "--force").status == 64)
            #expect(await bodega("backup", store, folder.path, "--force").status == 1)
            #expect(await bodega("backup", storeAddresses[1](folder), file).status == 64)
            // The copy would use the log of a removed database.
            let copy = folder.appendingPathComponent("copy.db").path
            try Data("log".utf8).write(to: URL(fileURLWithPath: copy + "-wal"))
            #expect(await bodega("backup", store, copy).status == 1)
            #expect(await bodega("backup", store, copy, "--force").status == 1)
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }

    @Test("compact frees the space of removed items and keeps the others")
    func compact() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let engine = try StorageAddress(parsing: store).open()
            try await engine.write((0..<500).map { (CacheKey("\($0)"), Data(count: 2000)) })
            try await engine.remove(keys: (1..<500).map { CacheKey("\($0)") })
            try await (engine as? SQLiteStorageEngine)?.close()
            let result = await bodega("compact", store, "--json")
            let sizes = try JSONDecoder().decode([String: Int].self, from: Data(result.output))
            #expect(try #require(sizes["before"]) > 1_000_000)
            #expect(try #require(sizes["after"]) < 50_000)
            #expect(await bodega("ls", store).text == "0\n")
            #expect(await bodega("compact", "disk:\(folder.path)/absent").status == 1)
        }
    }

    /// Changes a file as another program does.
    private func sqlite(_ file: String, _ sql: String) throws {
        try SQLiteTool.run(sql, on: file)
    }

    @Test("verify doesn't advise to restore a store that it could not open")
    func verifyOfWrongName() async throws {
        try await withFolder { folder in
            let store = folder.appendingPathComponent("data.db").path
            _ = await bodega("put", store, "a", input: [1])
            let result = await bodega("verify", store, "--collection", "typo")
            #expect(result.status == 1)
            #expect(result.text.contains("typo"))
            #expect(!result.errors.contains("Restore"))
        }
    }
}
#endif
