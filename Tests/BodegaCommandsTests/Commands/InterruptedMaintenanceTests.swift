#if CommandLineTool
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaCommands

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Interrupts a command when it has written a text.
private final class InterruptingSink: ByteSink {
    private let text: String
    private let interruption: Interruption
    let written = MemorySink()

    init(after text: String, _ interruption: Interruption) {
        (self.text, self.interruption) = (text, interruption)
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        written.write(bytes)
        if written.text.contains(text) { interruption.interrupt(.terminated) }
    }
}

@Suite("Interrupted index creations and backups")
struct InterruptedMaintenanceTests {

    private func fill(_ store: String, count: Int, padding: Int = 0) async throws {
        let engine = try StorageAddress(parsing: store).open()
        let text = String(repeating: "x", count: padding)
        try await engine.write(
            (0..<count).map { (CacheKey("\($0)"), Data(#"{"id":\#($0),"a":1,"b":2,"x":"\#(text)"}"#.utf8)) })
        try await (engine as? SQLiteStorageEngine)?.close()
    }

    /// The paths of the indexes, as SQLite's own program reports them.
    private func indexes(_ file: URL) async throws -> [String] {
        let process = Process()
        let output = Pipe.separate()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "sqlite3", file.path, "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'emporium_index%'",
        ]
        process.standardOutput = output
        try process.start()
        let text = String(decoding: await process.output(output), as: UTF8.self)
        return text.split(separator: "\n").compactMap { $0.split(separator: ":").last.map(String.init) }.sorted()
    }

    @Test(
        "an interrupted creation of indexes names those that exist, and those that don't",
        arguments: [
            ("created an index over a", ["a", "b", "id"], "The index over a was created. ", ["a"]),
            ("created an index over b", ["a", "b", "id"], "The indexes over a, b were created. ", ["a", "b"]),
            ("creating an index over a", ["a", "b"], "", []), ("creating an index over b", ["b"], "", []),
            ("creating an index over b", ["a", "b"], "The index over a was created. ", ["a"]),
        ] as [(String, [String], String, [String])])
    func creatingIndexes(moment: String, paths: [String], done: String, existing: [String]) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            // From this number on, the creation of an index is announced.
            try await fill(store, count: 20_000)
            let interruption = Interruption()
            let sink = InterruptingSink(after: moment, interruption)
            let options = paths.flatMap { ["--index", $0] }
            var console = TestConsole().console
            (console.errors, console.interruption) = (sink, interruption)
            #expect(await Tool.run(["query", store] + options, console: console) == 143)
            let missing = paths.filter { !existing.contains($0) }
            let rest =
                missing.count == 1
                ? "The index over \(missing[0]) was not created."
                : "The indexes over \(missing.joined(separator: ", ")) were not created."
            #expect(sink.written.text.hasSuffix("bodega: Interrupted. \(done)\(rest)\n"))
            #expect(try await indexes(folder.appendingPathComponent("store.db")) == existing)
        }
    }

    @Test("the message says which index for searches there is, and the same command finishes it")
    func creatingSearchIndex() async throws {
        for (moment, isTerminal) in [("creating an index", false), ("░", true)] {
            try await withFolder { folder in
                let store = storeAddresses[0](folder)
                try await fill(store, count: 20_000, padding: 20)
                let interruption = Interruption()
                let sink = InterruptingSink(after: moment, interruption)
                var console = TestConsole().console
                (console.errors, console.interruption) = (sink, interruption)
                (console.isErrorTerminal, console.errorWidth) = (isTerminal, 80)
                #expect(await Tool.run(["query", store, "--search-index", "x"], console: console) == 143)
                let exists = await bodega("query", store, "--indexes").text.contains("words")
                let state = exists ? "is not finished. The same command goes on with it." : "was not created."
                let message = "bodega: Interrupted. The index of the words in x \(state)\n"
                #expect(sink.written.text.hasSuffix(message), "\(sink.written.text)")
                #expect(await bodega("query", store, "--search-index", "x").status == 0)
                let word = String(repeating: "x", count: 20)
                let found = await bodega("query", store, "--search", word, "--search-in", "x", "--count")
                #expect(found.text == "20000\n")
            }
        }
    }

    @Test("the creation of an index shows its progress on a terminal, and nothing of it remains there")
    func progressOfIndex() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            try await fill(store, count: 30_000)
            for isTerminal in [true, false] {
                let result = await bodega("query", store, "--index", "a") {
                    ($0.isErrorTerminal, $0.errorWidth) = (isTerminal, 80)
                }
                #expect(result.status == 0)
                let lines = result.errors.components(separatedBy: "\r")
                #expect(lines.contains { $0.contains("░") && $0.contains(" 0 %  0 items") } == isTerminal, "\(lines)")
                #expect(lines.contains { $0.contains(" 100 %  30000 items") } == isTerminal, "\(lines)")
                let end = (isTerminal ? "\u{1B}[K" : "") + "bodega: note: created an index over a.\n"
                #expect(lines.last?.hasSuffix(end) == true, "\(lines)")
                #expect(await bodega("query", store, "--drop-index", "a").status == 0)
            }
        }
    }

    @Test("a signal after the last index leaves nothing to report, or ends the command before its query")
    func lateSignal() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            try await fill(store, count: 1)
            for (options, status, output) in [([], 0, ""), (["--count"], 143, "")] as [([String], Int32, String)] {
                _ = await bodega("query", store, "--drop-index", "id")
                let interruption = Interruption()
                var test = TestConsole()
                test.console.errors = InterruptingSink(after: "created an index over id", interruption)
                test.console.interruption = interruption
                #expect(await Tool.run(["query", store, "--index", "id"] + options, console: test.console) == status)
                #expect(test.output.text == output)
                #expect(try await indexes(folder.appendingPathComponent("store.db")) == ["id"])
            }
        }
    }

    @Test("an interrupted backup leaves no file, and says so")
    func interruptedBackup() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            try await fill(store, count: 20_000)
            let copy = folder.appendingPathComponent("copies/copy.db").path
            let result = await bodega("backup", store, copy) { $0.interruption.interrupt(.interrupted) }
            #expect(result == RunResult(status: 130, output: [], errors: "bodega: Interrupted. No backup was made.\n"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/copies") == [])
            #expect(await bodega("backup", store, copy, "--quiet").status == 0)
            #expect(await bodega("count", copy).text == "20000\n")
        }
    }

    @Test("what a killed backup leaves is reported by verify, and removed by compact and by the next backup")
    func killedBackup() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            try await fill(store, count: 20_000, padding: 2000)
            let copies = folder.appendingPathComponent("copies")
            func drafts() throws -> [String] {
                if !FileManager.default.fileExists(atPath: copies.path) { return [] }
                return try FileManager.default.contentsOfDirectory(atPath: copies.path).filter { $0 != "copy.db" }
            }
            let copy = copies.appendingPathComponent("copy.db").path
            var isKilled = false
            // On a busy machine the backup may be complete before it is stopped.
            for _ in 0..<20 where !isKilled {
                if FileManager.default.fileExists(atPath: copy) { try FileManager.default.removeItem(atPath: copy) }
                let tool = try ToolProcess(["backup", store, copy, "--force"], in: folder)
                try await waitUntil("the backup began") {
                    try !drafts().isEmpty || FileManager.default.fileExists(atPath: copy)
                }
                tool.send(SIGSTOP)
                if try !drafts().isEmpty {
                    // The draft of a backup that still runs is left alone.
                    _ = await bodega("put", copy, "own", input: [1])
                    #expect(await !bodega("verify", copy).text.contains("interrupted backup"))
                    #expect(await bodega("compact", copy).errors == "")
                    #expect(try !drafts().isEmpty)
                    isKilled = true
                }
                tool.send(SIGKILL)
                #expect(try await tool.end() == 137 || !isKilled)
            }
            try #require(isKilled)
            let verified = await bodega("verify", copy)
            #expect(verified.status == 0)
            #expect(verified.text.contains("remark: The file is left over from an interrupted backup. "))
            #expect(await bodega("compact", copy).errors.hasPrefix("bodega: note: removed "))
            #expect(try drafts() == [])
            // The next one into the folder does the same, under any name.
            for name in [".emporium-backup-A", ".emporium-backup-A-journal", ".other"] {
                try Data([1]).write(to: copies.appendingPathComponent(name))
            }
            #expect(await bodega("backup", store, copies.path + "/next.db", "--quiet").status == 0)
            #expect(try drafts().sorted() == [".other", "next.db"])
        }
    }
}
#endif
