#if CommandLineTool
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

/// The output that programs read through a pipe must match the files in `Tests/Fixtures/tool` byte for byte.
@Suite("Into a pipe")
struct GoldenTests {

    /// The name of a file and the command whose output it holds; `OURS` and `BODEGA` stand for the fixtures, `PEOPLE`
    /// for a store with JSON.
    static let commands: [(name: String, arguments: [String])] = [
        ("count.txt", ["count", "OURS"]),
        ("count.json", ["count", "OURS", "--json"]),
        ("ls.txt", ["ls", "OURS"]),
        ("ls-long.txt", ["ls", "OURS", "--long"]),
        ("ls-long.json", ["ls", "OURS", "--long", "--json"]),
        ("get.json", ["get", "OURS", "--json", "first", "ünïcödé/🐼"]),
        ("export.ndjson", ["export", "OURS"]),
        ("stat.txt", ["stat", "OURS"]),
        ("stat.json", ["stat", "OURS", "--json"]),
        ("diff.txt", ["diff", "BODEGA", "OURS"]),
        ("diff.json", ["diff", "BODEGA", "OURS", "--json"]),
        ("verify.txt", ["verify", "OURS", "--expect-json"]),
        ("verify.json", ["verify", "OURS", "--expect-json", "--json"]),
        ("query.txt", ["query", "PEOPLE", "--where", "@.born < 1960", "--sort", "born:desc"]),
        ("query-select.txt", ["query", "PEOPLE", "--select", "name.last", "--select", "born"]),
        ("query.json", ["query", "PEOPLE", "--where", "search(@.name.last, 'o')", "--json", "--select", "name"]),
        ("query-explain.txt", ["query", "PEOPLE", "--where", "@.born < 1960", "--sort", "name.last", "--explain"]),
        ("query-explain.json", ["query", "PEOPLE", "--where", "@.born < 1960", "--explain", "--json"]),
        ("query-index.txt", ["query", "PEOPLE", "--index", "name.last", "--indexes"]),
        (
            "query-index.json",
            ["query", "PEOPLE", "--index", "name.last", "--sort", "name.last", "--limit", "1", "--json"]
        ),
        ("usage.txt", ["query", "PEOPLE", "--where", "@.born = 1815"]),
    ]

    @Test("output stays as it is", arguments: commands)
    func output(name: String, arguments: [String]) async throws {
        try await withFolder { folder in
            let people = folder.appendingPathComponent("people.db").path
            let input = try Data(contentsOf: Fixtures.file("tool/people.ndjson"))
            _ = await bodega("import", people, "--key", "id", input: Array(input))
            let stores = [
                "OURS": Fixtures.file("emporium-1.sqlite3").path, "BODEGA": Fixtures.file("bodega-2.sqlite3").path,
                "PEOPLE": people,
            ]
            let test = TestConsole()
            let status = await Tool.run(arguments.map { stores[$0] ?? $0 }, console: test.console)
            var text = test.output.text
            if !test.errors.bytes.isEmpty { text += "--- standard error ---\n" + test.errors.text }
            text += "--- exit status \(status) ---\n"
            // The allocated size depends on the volume.
            text = text.replacing(/("allocatedBytes":|on disk     )\d+/) { "\($0.1)N" }
            for (name, path) in stores { text = text.replacingOccurrences(of: path, with: name) }
            let file = Fixtures.file("tool/\(name)")
            // To accept an intended change, set EMPORIUM_WRITE_GOLDEN=1 and review the diff.
            if ProcessInfo.processInfo.environment["EMPORIUM_WRITE_GOLDEN"] != nil {
                try Data(text.utf8).write(to: file)
            }
            #expect(text == (try String(contentsOf: file, encoding: .utf8)))
        }
    }
}
#endif
