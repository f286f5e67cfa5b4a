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

@Suite("Drafts of exports")
struct OutputDraftTests {

    private func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("that a killed export has left are removed by the next one into the same file, and no other file is")
    func killedExport() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let engine = try StorageAddress(parsing: store).open()
            // Enough that the export is stopped before its end.
            let items = (0..<4_000).map { (CacheKey("\($0)"), Data(repeating: 255, count: 3_000)) }
            try await engine.write(items)
            try await (engine as? SQLiteStorageEngine)?.close()
            let exports = folder.appendingPathComponent("exports")
            try FileManager.default.createDirectory(at: exports, withIntermediateDirectories: true)
            let file = exports.appendingPathComponent("a.ndjson")
            let small = folder.appendingPathComponent("small.db").path
            var isKilled = false
            // On a busy machine the export may be complete before it is stopped.
            for _ in 0..<20 where !isKilled {
                if FileManager.default.fileExists(atPath: file.path) {
                    try FileManager.default.removeItem(at: file)
                }
                let tool = try ToolProcess(["export", store, "--output", file.path], in: folder)
                try await waitUntil("the export began") { try !names(exports).isEmpty }
                tool.send(SIGSTOP)
                isKilled = !(try names(exports)).contains("a.ndjson")
                if isKilled {
                    // The draft of an export that still runs is left alone, by one to the same file, too.
                    let running = try names(exports)
                    #expect(await bodega("put", small, "key", input: [1]).status == 0)
                    #expect(await bodega("export", small, "--output", file.path).status == 0)
                    #expect(try names(exports) == (running + ["a.ndjson"]).sorted())
                    try FileManager.default.removeItem(at: file)
                }
                tool.send(SIGKILL)
                #expect(try await tool.end() == 137 || !isKilled)
            }
            try #require(isKilled)
            let draft = try #require(try names(exports).first)
            #expect(draft.hasPrefix(".a.ndjson."))
            // Files that look alike.
            let others = [
                draft.replacingOccurrences(of: ".a.", with: ".b."), draft + ".txt", String(draft.dropFirst()),
                ".a.ndjson.bodega-draft", ".a.ndjson.x.bodega-draft", ".a.ndjson.\(UUID().uuidString)",
            ]
            for name in others { try Data([1]).write(to: exports.appendingPathComponent(name)) }
            let link = ".a.ndjson.\(UUID().uuidString).bodega-draft"
            try FileManager.default.createSymbolicLink(
                at: exports.appendingPathComponent(link), withDestinationURL: exports.appendingPathComponent(others[0]))
            #expect(await bodega("export", small, "--output", file.path).status == 0)
            #expect(try names(exports) == (others + [link, "a.ndjson"]).sorted())
        }
    }

    @Test("have names that fit into a folder, for any name of the file")
    func longName() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            #expect(await bodega("put", store, "key", input: [1]).status == 0)
            for name in [String(repeating: "x", count: 255), String(repeating: "👩‍👩‍👧‍👦", count: 10)] {
                let file = folder.appendingPathComponent(name)
                #expect(await bodega("export", store, "--output", file.path).status == 0)
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.hasSuffix(#""text":"\u0001"}"# + "\n"))
            }
        }
    }
}

@Suite("Values of options that begin with a dash")
struct DashedValueTests {

    @Test(
        "are accepted after =, and otherwise the error says how to write them",
        arguments: [
            ["--select", "-x"], ["--sort", "-x"], ["--where", "-1 < @.x"], ["--index", "-x"],
            ["--limit", "1", "--select", "a", "--select", "-x"],
        ])
    func query(options: [String]) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            #expect(await bodega("put", store, "key", input: Array(#"{"a":1,"x":2,"-x":3}"#.utf8)).status == 0)
            let joined = Array(options.dropLast(2)) + [options.suffix(2).joined(separator: "=")]
            func run(_ options: [String]) async -> (Int32, String, String) {
                let test = TestConsole()
                let status = await Tool.run(["query", store] + options, console: test.console)
                return (status, test.output.text, test.errors.text)
            }
            let (status, text, _) = await run(options)
            #expect(status == 64 && text == "")
            // The lines are wrapped.
            let errors = await run(options).2.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let name = options[options.count - 2], value = options[options.count - 1]
            #expect(errors.contains("If \(value) is the value, write \(name)=\(value)."), "\(errors)")
            #expect(await run(joined).0 == 0)
        }
    }

    @Test("are not mistaken for options that lack a value for another reason")
    func otherErrors() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            for options in [["--select"], ["--limit"], ["--nosuch", "-x"]] {
                let test = TestConsole()
                #expect(await Tool.run(["query", store] + options, console: test.console) == 64)
                #expect(!test.errors.text.contains("is the value"))
            }
        }
    }
}
#endif
