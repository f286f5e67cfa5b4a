import Bodega
import BodegaRemote
import Browsing
import Foundation
import Testing

@Suite("The tool over HTTP")
struct ToolOverHTTPTests {
    private let tool: BodegaTool

    init() throws { tool = try BodegaTool() }

    /// Items of all kinds, in the format of an export.
    private static let items: Data = {
        var lines = [#"{"$bodega":{"export":1}}"#]
        for number in 0..<250 {
            lines.append(
                """
                {"key":"n\(number)","json":{"id":"n\(number)","born":\(1900 + number * 7 % 101),\
                "folder":"f\(number % 3)",\
                "text":"swift word\(number % 11) \\u00e9","draft":\(number % 2 == 0)}}
                """)
        }
        lines += [
            #"{"key":"two\nlines","text":"two\nlines"}"#,
            #"{"key":"picture.jpg","kind":"verbatim","base64":"/9j/AAA="}"#,
            #"{"key":"example.com/a?b#c","kind":"url","text":""}"#, #"{"key":"caf\u00e9","json":1}"#,
            #"{"key":"cafe\u0301","json":{"end":true}}"#, #"{"key":"..","json":null}"#,
        ]
        return Data((lines.joined(separator: "\n") + "\n").utf8)
    }()

    /// Creates a file with a collection of items, which name items of another one.
    private func makeFile(_ name: String) async throws {
        let database = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: tool.path(name)))
        let folders = try database.collection(named: "folders")
        for id in ["f0", "f2"] { try await folders.write(Data(#"{"id":"\#(id)"}"#.utf8), key: CacheKey(id)) }
        let notes = try database.collection(named: "notes")
        try await notes.references?.declareReferences([StorageReference("folder", to: "folders", onRemoval: .keep)])
        try await database.write(Data("1".utf8), key: CacheKey("unnamed"))
        let imported = try await tool.run(["import", "\(name)#notes", "--quiet"], input: Self.items)
        #expect(imported.status == 0, "\(imported.errors)")
    }

    private func arguments(_ command: String, _ store: String) -> [String] {
        command.split(separator: " ").map { word in
            // A plus sign is a space within an argument.
            word == "STORE" ? store : word.replacingOccurrences(of: "+", with: " ")
        }
    }

    /// The outcome with the address of the file in the place of that of the server.
    private func withoutAddress(_ outcome: BodegaTool.Outcome, _ url: String, _ file: String) -> BodegaTool.Outcome {
        var outcome = outcome
        outcome.errors = outcome.errors.replacing(url, with: file)
        if String(validating: outcome.output, as: UTF8.self) != nil {
            outcome.output = Data(outcome.text.replacing(url, with: file).utf8)
        }
        return outcome
    }

    @Test("prints what it prints for the served file")
    func reading() async throws {
        try await makeFile("a.db")
        let server = try await tool.serve([tool.path("a.db"), "--without-tokens"])
        let (file, url) = ("sqlite:a.db#notes", server.address + "#notes")
        for command in [
            "count STORE", "count STORE --json", "ls STORE", "ls STORE -0", "ls STORE --long", "ls STORE --long --json",
            "ls STORE --prefix n1 --limit 7", "get STORE n1 picture.jpg caf\u{e9} cafe\u{301} ..",
            "get STORE --json n2",
            "get STORE --url www.example.com/a?b#c n1", "get STORE nothing n1", "export STORE",
            "query STORE", "query STORE --where @.born+>+1990 --json", "query STORE --where @.born+>+1990 --explain",
            "query STORE --sort born:desc --limit 120", "query STORE --sort born --select text --limit 3 --json",
            "query STORE --search swift+word3 --search-in text --limit 9", "query STORE --count",
            "query STORE --search wor* --search-in text --explain", "query STORE --where @.draft --count --json",
            "query STORE --where @.born+==+1950 --limit 1 --explain --json", "query STORE --indexes",
            "query STORE --include folder --limit 5", "query STORE --include folder --json --where @.born+<+1910",
            "query STORE --include nothing", "query STORE --where @.born+>", "diff STORE a.db#folders",
            "diff a.db#folders STORE --json", "diff STORE a.db#notes", "diff STORE a.db#nothing", "rm STORE",
            "rm STORE --all", "query STORE --where @.text --limit 130 --explain",
        ] {
            let direct = try await tool.run(arguments(command, file))
            let served = withoutAddress(try await tool.run(arguments(command, url)), url, file)
            #expect(served == direct, "\(command): \(served.text.prefix(300)) \(served.errors) \(direct.errors)")
        }
        // The collection without a name.
        #expect(try await tool.run(["export", server.address]).output == tool.run(["export", "a.db"]).output)

        // A server has no files, does not list its collections, and a client can't know what its file does not notice.
        let (direct, served) = (
            try await tool.run(["stat", file, "--json"]), try await tool.run(["stat", url, "--json"])
        )
        #expect(
            try members(served, ["engine", "url"])
                == members(direct, ["engine", "path", "collections", "fileBytes", "allocatedBytes"]))
        let texts = (
            try await tool.run(["verify", file, "--expect-json"]), try await tool.run(["verify", url, "--expect-json"])
        )
        // The file's is told with its problems of two items that are not JSON, and one reference in three.
        #expect(texts.1.output == texts.0.output && texts.1.status == 1 && texts.1.text.contains("\"f1\""))
        #expect(texts.1.errors.contains("damage that the server does not detect"))
        #expect(try await server.stop() == 0)
    }

    private func withoutNote(_ errors: String) -> String {
        errors.split(separator: "\n").filter { !$0.contains("also has the collections") }.map { $0 + "\n" }.joined()
    }

    private func members(_ outcome: BodegaTool.Outcome, _ omitted: [String]) throws -> NSDictionary {
        var object = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        for name in omitted {
            #expect(object[name] != nil)
            object[name] = nil
        }
        return object as NSDictionary
    }

    @Test("changes what it changes in the served file")
    func writing() async throws {
        for name in ["a.db", "b.db"] { try await makeFile(name) }
        let keyset = try await tool.run(["keyset", "create", "keyset"])
        #expect(keyset.status == 0)
        // Longer than 1 MiB, and no UTF-8.
        let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) })
        let server = try await tool.serve([tool.path("b.db"), "--without-tokens"])
        let (file, url) = ("sqlite:a.db#notes", server.address + "#notes")
        for (command, input) in [
            ("put STORE large", large), ("put STORE --json --verbatim .x", Data("x".utf8)), ("put STORE n3", Data()),
            ("rm STORE n4 nothing --json", Data()), ("rm STORE picture.jpg", Data()), ("import STORE", Self.items),
            ("import STORE --batch-size 7 --json --quiet", Data()), ("query STORE --index born,text", Data()),
            ("import STORE --key a --skip-bad", Data("{\"a\":\"x\"}\n{\"b\":2}\n".utf8)),
            ("query STORE --index born --search-index text", Data()), ("query STORE --index born", Data()),
            ("query STORE --drop-index born,text --drop-index none", Data()),
            ("query STORE --index folder --index-where @.draft+==+true", Data()),
            ("query STORE --sort born --limit 20 --explain", Data()), ("copy a.db#folders STORE", Data()),
            ("copy a.db#folders STORE --overwrite --quiet", Data()), ("copy STORE disk:copy-NAME", Data()),
            ("rm STORE --all --yes --json", Data()), ("import STORE --keyset keyset", Self.items),
            ("put STORE n3", Data("clear".utf8)), ("get STORE n3 --keyset keyset", Data()),
            ("verify STORE --keyset keyset --quiet", Data()), ("keyset rotate STORE --keyset keyset --resume", Data()),
            ("export STORE --keyset keyset", Data()),
        ] {
            let (own, others) = (command.replacing("NAME", with: "a"), command.replacing("NAME", with: "b"))
            let direct = try await tool.run(arguments(own, file), input: input)
            let served = try await tool.run(arguments(others, url), input: input)
            var (left, right) = (direct, withoutAddress(served, url, file))
            // A server does not list its collections.
            (left.errors, right.errors) = (withoutNote(left.errors), withoutNote(right.errors))
            // They contain milliseconds.
            if command.contains("--json --quiet") { (left.output, right.output) = (Data(), Data()) }
            #expect(left == right, "\(command): \(served.text.prefix(300)) \(served.errors) \(direct.errors)")
            for check in [["export"], ["query", "--indexes"]] {
                let contents = try await (
                    tool.run([check[0], "a.db#notes"] + check.dropFirst()),
                    tool.run([check[0], "b.db#notes"] + check.dropFirst())
                )
                // Encrypted items are never the same.
                if contents.0.errors.contains("encrypted") { continue }
                #expect(contents.0.output == contents.1.output, "\(command)")
            }
        }
        let copies = try await tool.run(["diff", "disk:copy-a", "disk:copy-b"])
        #expect(copies.status == 0 && copies.output.isEmpty)
        // What the server has is encrypted.
        #expect(try await tool.run(["export", "b.db#notes"]).text.contains("swift") == false)
        #expect(try await server.stop() == 0)
    }

    @Test("copies the dates and the order in both directions")
    func dates() async throws {
        try await makeFile("a.db")
        let empty = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: tool.path("b.db")))
        _ = try await empty.collection(named: "notes").fetchCount()
        let server = try await tool.serve([tool.path("b.db"), "--without-tokens"])
        let url = server.address + "#notes"
        for (source, destination) in [("a.db#notes", url), (url, "sqlite:c.db#notes")] {
            let copied = try await tool.run(["copy", source, destination])
            #expect(copied.text == "copied 256\n", "\(copied.errors)")
            #expect(copied.errors.contains("which are not copied") == (source != url))
        }
        let listed = try await tool.run(["ls", "a.db#notes", "--long", "--json"])
        for copy in ["b.db#notes", "c.db#notes"] {
            #expect(try await tool.run(["ls", copy, "--long", "--json"]) == listed)
        }
        #expect(try await server.stop() == 0)
    }

    @Test("refuses what needs the store itself, with a sentence")
    func refusals() async throws {
        try await makeFile("a.db")
        #expect(try await tool.run(["keyset", "create", "keyset"]).status == 0)
        let server = try await tool.serve([tool.path("a.db"), "--without-tokens"])
        let url = server.address + "#notes"
        for (command, status, reason) in [
            ("compact \(url)", 64, "on its machine"), ("backup \(url) b.db", 64, "on its machine"),
            ("stat \(url) --check", 64, "bodega verify"), ("serve \(url) --without-tokens", 64, "another server"),
            ("serve a.db --tokens \(url)", 64, "another server"), ("count \(url)x", 1, "no such collection"),
            ("keyset rotate \(url) --keyset keyset --remove-old-keys", 64, "does not say which"),
            ("put \(url)x key", 1, "no such collection"), ("copy a.db#notes \(url)x", 1, "no such collection"),
            ("count http://127.0.0.1:1#notes", 1, "can't be reached"), ("count http://example.com#a", 64, "https://"),
            ("count https://user:secret@h#a", 64, "must not have a user"), ("count https://h?secret", 64, "query"),
            ("query https://h?secret --nonsense=https://h?secret", 64, "nonsense"),
            ("diff a.db#notes http://127.0.0.1:1#notes", 2, "can't be reached"),
            ("count a.db --token-file x", 64, "is on none"), ("copy a.db b.db --to-token-file x", 64, "is on none"),
        ] as [(String, Int32, String)] {
            let outcome = try await tool.run(arguments(command, ""))
            #expect(outcome.status == status && outcome.output.isEmpty, "\(command)")
            #expect(outcome.errors.contains(reason), "\(command): \(outcome.errors)")
            #expect(!outcome.errors.contains("secret"))
        }
        #expect(!FileManager.default.fileExists(atPath: tool.path("b.db")))
        #expect(try await server.stop() == 0)
    }

    @Test("has the rights of its token, which it shows nowhere")
    func tokens() async throws {
        try await makeFile("a.db")
        var tokens: [String] = []
        for grant in [["--on", "notes", "--where", #"@.born > 1990"#], ["--rights", "read"], ["--rights", "write"]] {
            let created = try await tool.run(["token", "create", tool.path("a.db") + "#tokens", "Test"] + grant)
            tokens.append(created.text.trimmingCharacters(in: .newlines))
        }
        let (file, spaces) = (tool.path("token"), tool.path("spaces"))
        try Data((tokens[0] + "\n").utf8).write(to: URL(fileURLWithPath: file))
        try Data("\(tokens[0]) \(tokens[1])".utf8).write(to: URL(fileURLWithPath: spaces))
        let server = try await tool.serve([tool.path("a.db"), "--tokens", tool.path("a.db") + "#tokens"])
        let url = server.address + "#notes"

        let open = try await tool.run(["count", url, "--token-file", file])
        #expect(open.status == 1 && open.errors.contains("chmod 600"))
        for path in [file, spaces] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        let wanted = try await tool.run(["query", "a.db#notes", "--where", "@.born > 1990", "--count"])
        for outcome in [
            try await tool.run(["count", url, "--token-file", file]),
            try await tool.run(["count", url], ["BODEGA_TOKEN": tokens[0]]),
            // The file comes first.
            try await tool.run(["count", url, "--token-file", file], ["BODEGA_TOKEN": "other"]),
        ] {
            #expect(outcome.output == wanted.output && outcome.status == 0, "\(outcome.errors)")
        }
        // The client does not see the items to which the references lead.
        let verified = try await tool.run(["verify", url, "--token-file", file])
        #expect(verified.status == 0 && verified.text.contains("remark: The references"), "\(verified)")
        let read = try await tool.run(["get", url, "n1"], ["BODEGA_TOKEN": tokens[1]])
        let written = try await tool.run(["put", url, "n1"], ["BODEGA_TOKEN": tokens[1]])
        #expect(read.status == 0 && written.status == 1 && written.errors.contains("permissionDenied"))

        // That says nothing about the store.
        let unread = try await tool.run(["verify", url, "--quiet"], ["BODEGA_TOKEN": tokens[2]])
        #expect(unread.status == 1 && unread.errors.contains("permissionDenied") && !unread.errors.contains("Restore"))
        #expect(unread.text.isEmpty)

        for (arguments, environment, reason) in [
            (["count", url], [:], "Give it with BODEGA_TOKEN or --token-file"),
            (["count", url], ["BODEGA_TOKEN": ""], "empty"),
            (["count", url], ["BODEGA_TOKEN": tokens[0] + "0"], "unauthorized"),
            (["watch", url], ["BODEGA_TOKEN": tokens[0] + "0"], "unauthorized"),
            (["count", url, "--token-file", spaces], [:], "one token"),
            (["count", url, "--token-file", "nothing"], [:], "nothing"),
            (["copy", url, "http://127.0.0.1:1"], ["BODEGA_TOKEN": tokens[0]], "--from-token-file"),
            (["copy", url, "b.db", "--from-token-file", spaces], [:], "one token"),
        ] as [([String], [String: String], String)] {
            let outcome = try await tool.run(arguments + ["--verbose"], environment)
            #expect(outcome.status != 0 && outcome.output.isEmpty)
            #expect(outcome.errors.contains(reason), "\(arguments) \(outcome.errors)")
            #expect(!tokens.contains { outcome.errors.contains($0) })
        }
        #expect(try await server.stop() == 0)
    }
}
