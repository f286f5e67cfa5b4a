#if CommandLineTool
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaCommands

@Suite("One damaged item")
struct DamagedItemTests {

    private static let dates = [
        "2030-01-01 10:00", "2030-01-01T10:00:00+02:00", "1900000000", "1900000000.5", "", "2030-02-30x", "tomorrow",
    ]

    /// Three items, whose second has a date that another program has written.
    private func withForeignDate(
        _ date: String, column: String, _ body: (URL, String) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            for key in ["a", "b", "c"] { _ = await bodega("put", store, key, input: [1]) }
            try SQLiteTool.run(
                "UPDATE data SET \(column) = '\(date)' WHERE key = 'b'",
                on: folder.appendingPathComponent("store.db").path)
            try await body(folder, store)
        }
    }

    @Test("with a date that can't be read is reported with its key, and the others are used", arguments: dates)
    func foreignDate(date: String) async throws {
        for column in ["createdAt", "updatedAt"] {
            try await withForeignDate(date, column: column) { folder, store in
                let listed = await bodega("ls", "--long", store)
                #expect(listed.status == 1)
                #expect(listed.text.split(separator: "\n").map(\.last) == ["a", "c"])
                let measured = await bodega("stat", store, "--json")
                #expect(measured.status == 1)
                #expect(measured.text.contains(#""count":2,"bytes":2,"#))
                let copy = "disk:\(folder.path)/copy"
                let copied = await bodega("copy", store, copy)
                #expect(copied.status == 1)
                #expect(copied.text == "copied 2\n")
                #expect(await bodega("ls", copy).text == "a\nc\n")
                for (result, outcome) in [
                    (listed, "measured"), (measured, "measured"), (copied, "copied"),
                ] {
                    #expect(
                        result.errors.hasPrefix("bodega: 1 item could not be \(outcome):\n  \"b\": The item's dates"))
                    #expect(!result.errors.contains("again to continue"))
                }
                // What the message advises helps.
                let value = await bodega("get", store, "b").output
                #expect(value == [1])
                _ = await bodega("rm", store, "b")
                _ = await bodega("put", store, "b", input: value)
                #expect(await bodega("copy", store, copy).text == "copied 1, already there 2\n")
            }
        }
    }

    @Test("with a date that can't be read does not end a watch")
    func watched() async throws {
        try await withForeignDate("1900000000", column: "updatedAt") { folder, store in
            let address = try StorageAddress(argument: store)
            var watch = try await StoreWatch(address)
            #expect(watch.undated.all.map(\.key) == [CacheKey("b")])
            _ = await bodega("put", store, "d", input: [1])
            #expect(try await watch.changes(now: Date()).map(\.key) == [CacheKey("d")])
            // An item that was known before is not taken for removed.
            try SQLiteTool.run(
                "UPDATE data SET updatedAt = 'x' WHERE key = 'a'", on: folder.appendingPathComponent("store.db").path)
            #expect(try await watch.changes(now: Date()) == [])
        }
    }

    @Test("a copy that ends because of damage does not advise to run it again")
    func damagedCopy() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let engine = try StorageAddress(parsing: store).open()
            try await engine.write((0..<4000).map { (CacheKey("\($0)"), Data(count: 100)) })
            try await (engine as? SQLiteStorageEngine)?.close()
            let file = folder.appendingPathComponent("store.db")
            var bytes = try Data(contentsOf: file)
            // Behind the first batch of 32 items.
            bytes.replaceSubrange(200_000..<400_000, with: Data(repeating: 0xAA, count: 200_000))
            try bytes.write(to: file)
            let result = await bodega("copy", store, "disk:\(folder.path)/copy")
            #expect(result.status == 1)
            #expect(!result.errors.contains("again"), "\(result.errors)")
        }
    }

    // MARK: verify of folders

    #if canImport(Glibc)
    /// Changes the attribute in which the file keeps its record, as damage or another program does.
    ///
    /// - Parameter change: A statement in Python that changes its bytes, `b`.
    private func changeRecord(of file: URL, _ change: String) async throws {
        let script = """
            import os, sys
            b = bytearray(os.getxattr(sys.argv[1], "user.emporium.item"))
            \(change)
            os.setxattr(sys.argv[1], "user.emporium.item", bytes(b))
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, file.path]
        let output = Pipe.separate()
        process.standardOutput = output
        try process.start()
        _ = await process.output(output)
        try #require(process.terminationStatus == 0)
    }

    /// A folder with items, and the file of one of them.
    private func withItems(_ body: (String, URL) async throws -> Void) async throws {
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            for key in ["first", "second", "third"] { _ = await bodega("put", store, key, input: Array(key.utf8)) }
            // The names are the MD5 of the keys, in groups: md5sum of coreutils says the same of "second".
            let name = "A9F0E61A-137D-86AA-9DB5-3465E0801612"
            try await body(store, folder.appendingPathComponent("store/\(name)"))
        }
    }

    @Test("whose record has a changed version, kind or key is found in a folder, every time")
    func records() async throws {
        let changes = [
            "b[0] ^= 4", "b[1] = 77", "b[1] = 1", "b[26] ^= 1", "b[-1] ^= 2", "b[27] = 0xFF", "del b[-3:]",
            "del b[20:]",
            "b[:] = [0]", "b[:] = []",
        ]
        for change in changes {
            try await withItems { store, file in
                try await changeRecord(of: file, change)
                let result = await bodega("verify", store)
                #expect(result.status == 1, "\(change)")
                #expect(result.text.hasPrefix("problem: The "), "\(change): \(result.text)")
                #expect(result.text.contains(file.path), "\(change)")
            }
        }
    }
    #endif

    @Test("whose file was renamed, copied or emptied is found in a folder")
    func files() async throws {
        #if canImport(Glibc)
        let files = FileManager.default
        try await withItems { store, file in
            let folder = file.deletingLastPathComponent()
            try files.moveItem(at: file, to: folder.appendingPathComponent("renamed"))
            let renamed = await bodega("verify", store)
            #expect(renamed.status == 1)
            #expect(renamed.text.contains("its file is \(file.lastPathComponent). [key \"second\"]"))
            try files.moveItem(at: folder.appendingPathComponent("renamed"), to: file)
            #expect(await bodega("verify", store).text == "no problem found, 3 items read\n")

            // With its attributes.
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/cp")
            process.arguments = ["--archive", file.path, folder.appendingPathComponent("copy").path]
            try process.start()
            await blocking { process.waitUntilExit() }
            let copied = await bodega("verify", store)
            #expect(copied.status == 0)
            #expect(copied.text.hasPrefix("remark: The file is a copy of this item's, "))
            try files.removeItem(at: folder.appendingPathComponent("copy"))

            try FileHandle(forWritingTo: file).truncate(atOffset: 0)
            let emptied = await bodega("verify", store)
            #expect(emptied.status == 0)
            #expect(emptied.text.hasPrefix("remark: The item is empty. "))
        }
        #endif
    }

    @Test("that verify can't find in a folder is of a kind that its note names")
    func limits() async throws {
        #if canImport(Glibc)
        try await withItems { store, file in
            func note(_ options: String...) async -> String {
                let test = TestConsole()
                _ = await Tool.run(["verify", store] + options, console: test.console)
                return test.errors.text
            }
            // One bit, one byte less, and no file at all.
            try Data("sedond".utf8).write(to: file)
            #expect(await bodega("verify", store).status == 0)
            #expect(await note().contains("changed bytes of an item, "))
            try Data("secon".utf8).write(to: file)
            #expect(await bodega("verify", store).status == 0)
            #expect(await note().contains("bytes cut off from an item, "))
            try FileManager.default.removeItem(at: file)
            #expect(await bodega("verify", store).text == "no problem found, 2 items read\n")
            #expect(await note().contains("removed files."))
            #expect(await note("--quiet") == "")
        }
        #endif
    }
}
#endif
