import Foundation
import Testing

@testable import EngineProfiler

/// The programs as users run them.
@Suite struct ProgramTests {

    @Test func `With only --quick, three engines are profiled into a report, and no other data remains`()
        async throws
    {
        let program = try Program()
        let temporary = try Program()
        let outcome = try await program.run(
            "profiler", "--quick", "--durability", "relaxed", "--directory", temporary.folder.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try program.names() == ["profile.html"])
        #expect(try temporary.names() == [])
        let html = try String(contentsOfFile: program.path("profile.html"), encoding: .utf8)
        #expect(html.hasPrefix("<!DOCTYPE html>") && html.contains("<h1>sqlite, disk, memory</h1>"))
        for operation in EngineProfiler.Operation.ofEngines {
            #expect(outcome.output.contains("\n\(operation.rawValue)  a call "), "\(operation) is missing")
        }
        let isRunning = outcome.errors.contains { $0 == "\u{1B}" }
        #expect(!isRunning, "a pipe got control sequences")
        try program.remove()
        try temporary.remove()
    }

    @Test func `Results can be compared and rendered, and --fail-above determines the exit status`() async throws {
        let program = try Program()
        let run = try await program.run(
            "profiler", "run", "memory", "--operations", "read,store-lookup", "--sizes", "50,100", "--repetitions",
            "10",
            "--json", "a.json", "--no-html")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try program.names() == ["a.json"])
        var slower = try Profile(path: program.path("a.json"))
        #expect(slower.engines[0].operations == ["read", "store-lookup"])
        for size in slower.engines[0].sizes.indices {
            slower.engines[0].sizes[size].measurements[0] = Sample.steady(around: 900_000_000)
        }
        try slower.json().write(to: program.folder.appendingPathComponent("b.json"))

        let comparison = try await program.run("profiler", "compare", "a.json", "b.json")
        #expect(comparison.status == 0)
        #expect(comparison.output.contains("0 faster, 2 slower, of 4."))
        #expect(try await program.run("profiler", "compare", "a.json", "b.json", "--fail-above", "1.2").status == 1)
        #expect(try await program.run("profiler", "compare", "b.json", "a.json", "--fail-above", "1.2").status == 0)
        #expect(try await program.run("profiler", "compare", "a.json", "a.json", "--fail-above", "1.2").status == 0)

        let render = try await program.run("profiler", "render", "a.json", "b.json", "--html", "ab.html")
        #expect(render.status == 0, "\(render.errors)")
        let html = try String(contentsOfFile: program.path("ab.html"), encoding: .utf8)
        #expect(html.contains("memory (a)") && html.contains("memory (b)"))
        try program.remove()
    }

    @Test func `Results on standard output are the only output`() async throws {
        let program = try Program()
        let run = try await program.run(
            "profiler", "run", "memory", "--operations", "count", "--sizes", "10", "--repetitions", "5", "--json", "-",
            "--no-html")
        #expect(try Profile(json: Data(run.output.utf8), name: "output").engines.map(\.name) == ["memory"])
        try program.remove()
    }

    @Test func `Existing data is refused and not changed, but an empty folder is used and kept`() async throws {
        let program = try Program()
        try Data("mine".utf8).write(to: program.folder.appendingPathComponent("notes.db"))
        try FileManager.default.createDirectory(atPath: program.path("full"), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: program.folder.appendingPathComponent("full/item"))
        try FileManager.default.createDirectory(atPath: program.path("empty"), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: program.folder.appendingPathComponent("new.db-wal"))
        for address in ["sqlite:notes.db", "disk:full", "sqlite:new.db", "disk:missing/folder"] {
            // The valid address is not measured before the error is found.
            let outcome = try await program.run("profiler", "run", "memory", address, "--quick", "--no-html")
            #expect(outcome.status == 2, "\(address)")
            #expect(!outcome.errors.contains("p50"), "\(address)")
        }
        let refused = try await program.run("profiler", "run", "sqlite:notes.db", "--quick")
        #expect(
            refused.errors.contains("already exists") && refused.errors.contains("Choose a path that does not exist"))
        #expect(try program.names() == ["empty", "full", "new.db-wal", "notes.db"])
        #expect(try Data(contentsOf: program.folder.appendingPathComponent("notes.db")) == Data("mine".utf8))
        for address in ["disk:empty", "disk:new", "sqlite:new.sqlite3"] {
            let outcome = try await program.run(
                "profiler", "run", address, "--operations", "write,read", "--sizes", "20", "--repetitions", "5",
                "--no-html")
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        #expect(try program.names() == ["empty", "full", "new.db-wal", "notes.db"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: program.path("empty")) == [])
        try program.remove()
    }

    @Test(arguments: [
        ["run", "nonsense"], ["run", "memory", "memory"], ["run", "--operations", "fly"], ["run", "--sizes", "0"],
        ["run", "--duration", "1", "--repetitions", "5"], ["run", "--value-bytes", "7"],
        ["run", "--durability", "some"],
        ["run", "--sizes", "10", "--concurrency", "11"], ["run", "--html", "x", "--no-html"], ["compare", "a.json"],
        ["compare", "a", "b", "--fail-above", "0"], ["render"], ["fly"],
    ])
    func `An invalid command line exits with status 64 and writes no files`(arguments: [String]) async throws {
        let program = try Program()
        #expect(try await program.status("profiler", arguments) == 64)
        #expect(try program.names() == [])
        try program.remove()
    }

    @Test func `Files that can't be read or written cause status 2 before any measurement`() async throws {
        let program = try Program()
        for arguments in [
            ["run", "--html", "missing/x.html"], ["run", "--json", "."], ["compare", "a.json", "b.json"],
            ["render", "a.json"], ["run", "--directory", "missing"], ["run", "--engine", "missing"],
        ] {
            #expect(try await program.status("profiler", arguments) == 2, "\(arguments)")
        }
        #expect(try program.names() == [])
        try program.remove()
    }

    @Test func `A custom program profiles its engine, alone and with others`() async throws {
        let program = try Program()
        let options = ["--operations", "write,read,store-load", "--sizes", "20,40", "--repetitions", "5"]
        for (arguments, names) in [
            (["run"], ["dictionary"]), (["run", "dictionary", "memory"], ["dictionary", "memory"]),
        ] {
            let all = arguments + options + ["--no-html", "--json", "x.json"]
            #expect(try await program.status("DictionaryProfiler", all) == 0)
            #expect(try Profile(path: program.path("x.json")).engines.map(\.name) == names)
        }
        let outcome = try await program.run(
            "profiler", "run", "memory", "--engine", Program.url(of: "DictionaryProfiler").path, "--operations",
            "write,read", "--sizes", "20", "--repetitions", "5", "--json", "y.json", "--html", "y.html")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try Profile(path: program.path("y.json")).engines.map(\.name) == ["memory", "dictionary"])
        #expect(try program.names() == ["x.json", "y.html", "y.json"])
        try program.remove()
    }

    @Test func `The help says that operations of stores need --store`() async throws {
        let program = try Program()
        let outcome = try await program.run("profiler", "run", "--help")
        #expect(outcome.status == 0)
        let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("Default: all operations of engines, and with --store those of stores."))
        try program.remove()
    }

    @Test func `The data of a program that crashes is removed`() async throws {
        let program = try Program()
        let temporary = try Program()
        let engine = program.folder.appendingPathComponent("crashing")
        // The program writes into the given folder, as other profilers do, and crashes.
        try Data(
            """
            #!/bin/sh
            while [ "$1" != --directory ]; do shift; done
            mkdir "$2/profiler-crashed" && touch "$2/profiler-crashed/items" "$0.was-here"
            kill -9 $$
            """.utf8
        ).write(to: engine)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: engine.path)
        let outcome = try await program.run(
            "profiler", "run", "--engine", engine.path, "--quick", "--no-html", "--directory", temporary.folder.path)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("failed with signal 9"))
        #expect(try program.names() == ["crashing", "crashing.was-here"])
        #expect(try temporary.names() == [])
        try program.remove()
        try temporary.remove()
    }

    @Test func `The README shows the whole custom program`() throws {
        let readme = try String(contentsOf: Repository.profiler.appendingPathComponent("README.md"), encoding: .utf8)
        let source = try String(
            contentsOf: Repository.profiler.appendingPathComponent("Sources/DictionaryProfiler/main.swift"),
            encoding: .utf8)
        #expect(readme.contains("```swift\n\(source)```\n"))
    }
}
