#if CommandLineTool
@testable import Bodega
@testable import BodegaCommands
import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

@Suite("A query")
struct QueryTests {

    private static let item = #"""
        {"obj": {"x": "y"}, "arr": [2, 3], "a": {"b": {"c": 5}}, "t": true, "n": null, "name": "Ünï \"q\"",
         "odd name": [{"k": 1}, {"k": 2}], "dup": 1, "dup": 2, "e\u0301": 1, "big": 1e3, "s": "b"}
        """#

    private func accepts(_ condition: String, _ item: String = Self.item) throws -> Bool {
        let filter = try JSONFilterParser.parse(condition)
        return Array(item.utf8).withUnsafeBytes { bytes in
            JSONScanner.document(bytes).map { filter.accepts(bytes, $0) } ?? false
        }
    }

    /// The comparisons of RFC 9535, section 2.3.5.3.1, table 11, with `@` for `$`.
    @Test(
        "compares as RFC 9535 does",
        arguments: [
            ("@.absent1 == @.absent2", true), ("@.absent1 <= @.absent2", true), ("@.absent == 'g'", false),
            ("@.absent1 != @.absent2", false), ("@.absent != 'g'", true), ("1 <= 2", true), ("1 > 2", false),
            ("13 == '13'", false), ("'a' <= 'b'", true), ("'a' > 'b'", false), ("@.obj == @.arr", false),
            ("@.obj != @.arr", true), ("@.obj == @.obj", true), ("@.obj != @.obj", false), ("@.arr == @.arr", true),
            ("@.arr != @.arr", false), ("@.obj == 17", false), ("@.obj != 17", true), ("@.obj <= @.arr", false),
            ("@.obj < @.arr", false), ("@.obj <= @.obj", true), ("@.arr <= @.arr", true), ("1 <= @.arr", false),
            ("1 >= @.arr", false), ("1 > @.arr", false), ("1 < @.arr", false), ("true <= true", true),
            ("true > true", false),
        ]
    )
    func comparisons(_ condition: String, result: Bool) throws {
        #expect(try accepts(condition) == result)
    }

    @Test(
        "finds values, tests for them and joins conditions",
        arguments: [
            ("@.a.b.c == 5", true), ("@['a'][\"b\"]['c'] == 5", true), ("@.arr[1] == 3", true),
            ("@.arr[-2] == 2", true),
            ("@.arr[2]", false), ("@['odd name'][1].k == 2", true), ("@.n", true), ("@.n == null", true),
            ("@.x", false),
            ("!@.x && @.t", true), ("!(@.t == true)", false), ("@.x || @.t && @.x", false),
            ("(@.x || @.t) && @.n", true),
            ("@.dup == 1", true), ("@.big == 1000", true), ("@.name == 'Ünï \"q\"'", true),
            (#"@.name == "Ünï \"q\"""#, true), (#"@.s == '\u0062'"#, true), ("@['é']", false),
            ("@.s == 'it\\'s'", false),
            ("length(@.arr) == 2", true), ("length(@.obj) == 1", true), ("length(@.name) == 7", true),
            ("length(@.t) == 1", false), ("match(@.s, '[a-c]')", true), ("match(@.name, 'n')", false),
            ("search(@.name, 'n')", true), ("search(@.arr, '2')", false), ("!search(@.name, 'z')", true), ("@", true),
            ("  @.t==true&&@.s>='b'  ", true), ("@.true == true", false), ("-1.5e1 == -15", true),
        ]
    )
    func conditions(_ condition: String, result: Bool) throws {
        #expect(try accepts(condition) == result)
    }

    @Test(
        "with an invalid condition is refused, with the place of the mistake",
        arguments: [
            ("", "missing"), ("@.a = 1", "=="), ("@.a ==", "missing"), ("1", "comparison"), ("(@.a", "parenthesis"),
            ("@.a @.b", "follow"), ("@..a", "several"), ("@.*", "several"), ("@[0:1]", "bracket"), ("@[*]", "several"),
            ("$.a", "@"), ("@.a-b", "@['a-b']"), ("'a", "no end"), (#"@.a == "\x""#, "escape"), ("01 == 1", "number"),
            ("!@.a == 1", "parentheses"), ("search(@.a, '(')", "regular expression"), ("search(@.a, @.b)", "quotes"),
            ("length(@.a)", "comparison"), ("count(@.a) == 1", "value is expected"), ("@[00]", "index"),
            (String(repeating: "(", count: 200) + "@", "deeply"),
        ]
    )
    func mistakes(_ condition: String, hint: String) {
        #expect { try JSONFilterParser.parse(condition) } throws: { error in
            guard let error = error as? StorageError else { return false }
            return error.code == .invalidArgument && error.message.contains(hint) && error.message.contains(" >>> ")
        }
    }

    @Test("compares no items that are nested too deeply")
    func deepNesting() throws {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(try accepts("@ == 1 || @ == '' || @ < 2", deep) == false)
        #expect(try accepts("@[0][0][0]", deep))
    }

    private static let people = #"""
        {"id":"a","name":"Ada","born":1815,"tags":["x"]}
        {"id":"b","name":"Bob","tags":[]}
        {"id":"c","name":"Cleo","born":-69}
        {"id":"d","name":"Dan","born":"unknown"}
        {"id":"e","name":"tab\tand\nline","born":1990}
        """#

    private func withPeople(_ body: (String) async throws -> Void) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("import", store, "--key", "id", input: Array(Self.people.utf8))
            _ = await bodega("put", store, "z", input: Array("not JSON".utf8))
            try await body(store)
        }
    }

    @Test("prints keys and selected values, separated by tabs")
    func output() async throws {
        try await withPeople { store in
            let note = "bodega: note: items that are not JSON were left out: 1\n"
            let old = await bodega("query", store, "--where", "@.born < 1900", "--select", "name", "--select", "tags")
            #expect(old == RunResult(status: 0, output: Array("a\tAda\t[\"x\"]\nc\tCleo\t\n".utf8), errors: note))
            #expect(
                await bodega("query", store, "--where", "@.born > 1900", "--select", "name").text
                    == "e\ttab\\tand\\nline\n")
            #expect(
                await bodega("query", store, "--where", "@.name == 'Bob'").text == #"b"# + "\t"
                    + #"{"id":"b","name":"Bob","tags":[]}"# + "\n")
            #expect(
                await bodega("query", store, "--where", "@.born < 0", "--json").text
                    == #"{"key":"c","json":{"id":"c","name":"Cleo","born":-69}}"# + "\n")
            #expect(
                await bodega("query", store, "--where", "@.born < 0", "--json", "--select", "born", "--select", "x")
                    .text
                    == #"{"key":"c","json":{"born":-69}}"# + "\n")
        }
    }

    @Test("sorts by type and by value, and puts items without a value last")
    func sorting() async throws {
        try await withPeople { store in
            func keys(_ arguments: String...) async -> String {
                let test = TestConsole()
                _ = await Tool.run(["query", store, "--select", "id"] + arguments, console: test.console)
                return test.output.text.split(separator: "\n").map { String($0.prefix(1)) }.joined()
            }
            #expect(await keys() == "abcde")
            #expect(await keys("--sort", "born") == "caedb")
            #expect(await keys("--sort", "born:desc") == "deacb")
            #expect(await keys("--sort", "born", "--limit", "2") == "ca")
            #expect(await keys("--sort", "absent") == "abcde")
            #expect(await keys("--limit", "3") == "abc")
            #expect(await keys("--limit", "0") == "")
            #expect(await keys("--sort", "born:desc", "--limit", "2", "--where", "@.born != 1990") == "da")
        }
    }

    @Test("finds items by words, the most relevant ones first")
    func searching() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let notes = #"""
                {"id":"a","title":"Swift and more","body":"A long text about nothing at all, and about other things."}
                {"id":"b","title":"Élan","tags":["swift","élan vital"],"body":7}
                {"id":"c","title":"swift"}
                {"id":"d","body":"Swiftly"}
                {"id":"e","title":["x",1]}
                {"id":"f","n":1}
                {"id":"g","body":"東京都庁"}
                """#
            _ = await bodega("import", store, "--key", "id", input: Array(notes.utf8))
            _ = await bodega("put", store, "z", input: Array("not JSON".utf8))
            func keys(_ words: String, _ arguments: String...) async -> String {
                let fields = ["title", "body", "tags"].flatMap { ["--search-in", $0] }
                let test = TestConsole()
                let all = ["query", store, "--select", "id", "--search", words] + fields + arguments
                _ = await Tool.run(all, console: test.console)
                return test.output.text.split(separator: "\n").map { String($0.prefix(1)) }.joined()
            }
            #expect(await keys("SWIFT") == "cba")
            #expect(await keys("swift", "--sort", "id") == "abc")
            #expect(await keys("swift", "--limit", "1") == "c")
            #expect(await keys("swift*", "--sort", "id:desc") == "dcba")
            #expect(await keys("swift elan") == "b")
            #expect(await keys("\"elan vital\" OR x", "--sort", "id") == "be")
            #expect(await keys("-swift", "--sort", "id") == "defg")
            #expect(await keys("京都") == "")
            #expect(await keys("京都", "--substrings") == "g")
            #expect(await keys("swift", "--where", "@.tags") == "b")
            #expect(await bodega("query", store, "--search", "swift", "--search-in", "title", "--count").text == "2\n")
            let wrong = await bodega("query", store, "--search", "(swift", "--search-in", "title")
            #expect(wrong.status == 64 && wrong.errors.contains("at character 1"))
            #expect(await bodega("query", store, "--search", "swift").status == 64)
        }
    }

    @Test("sorts numbers before texts, with booleans as numbers, and keeps equal items in insertion order")
    func sortKeys() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let values = [
                "true", "null", "\"b\"", "[1, 2]", "0.5", "1.0", "\"Z\"", "{\"a\":1}", "-3", "false", "\"b\"", "1e2",
            ]
            let lines = values.enumerated().map { #"{"id":"\#($0)","v":\#($1)}"# } + [#"{"id":"12"}"#]
            _ = await bodega("import", store, "--key", "id", input: Array(lines.joined(separator: "\n").utf8))
            func keys(_ sort: String) async -> [Int] {
                let lines = await bodega("query", store, "--sort", sort, "--select", "id").text.split(separator: "\n")
                return lines.compactMap { $0.split(separator: "\t").first.flatMap { Int($0) } }
            }
            let ascending = [8, 9, 4, 0, 5, 11, 6, 3, 2, 10, 7, 1, 12]
            let descending = [7, 2, 10, 3, 6, 11, 0, 5, 4, 9, 8, 1, 12]
            for index in [[], ["--index", "v"]] {
                if !index.isEmpty { #expect(await bodega(arguments: ["query", store] + index).status == 0) }
                #expect(await keys("v") == ascending, "\(index)")
                #expect(await keys("v:desc") == descending, "\(index)")
            }
        }
    }

    @Test("with a limit finds the same as without one, even among many items")
    func largeSort() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = (0..<3000).map { #"{"id":\#($0),"n":\#($0 * 7919 % 3001)}"# }.joined(separator: "\n")
            _ = await bodega("import", store, "--key", "id", input: Array(lines.utf8))
            let all = await bodega("query", store, "--sort", "n")
            let some = await bodega("query", store, "--sort", "n", "--limit", "10")
            #expect(all.text.split(separator: "\n").prefix(10) == some.text.split(separator: "\n")[...])
        }
    }

    @Test("prints an item with line ends on one line, and keeps its strings")
    func compacting() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "a", input: Array("{\n  \"k\": \"x \\\" y\",\r\n\t\"l\": [ 1 ]\n}\n".utf8))
            #expect(await bodega("query", store, "--json").text == #"{"key":"a","json":{"k":"x \" y","l":[1]}}"# + "\n")
        }
    }

    @Test("prints JSON without the whitespace around it")
    func whitespaceAround() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "k", input: Array(" {\"a\": 1} ".utf8))
            #expect(await bodega("query", store, "--json").text == #"{"key":"k","json":{"a": 1}}"# + "\n")
        }
    }

    @Test("sorts by several values, shows and searches several, in lists or by repeated options")
    func lists() async throws {
        struct Row: Codable { var a: Int?, b: String, c: Int }
        var random = SeededGenerator(seed: Seed.current)
        let rows = (0..<24).map { number in
            let a = Int.random(in: 0..<4, using: &random)
            return Row(a: a == 0 ? nil : a, b: ["x", "y", "z"].randomElement(using: &random) ?? "x", c: number)
        }
        // Items without the value come last in both directions.
        func precede(_ left: Row, _ right: Row) -> Bool {
            if left.a != right.a { return (left.a ?? .max) < (right.a ?? .max) }
            return left.b != right.b ? left.b > right.b : left.c < right.c
        }
        let expected = rows.sorted(by: precede).map { "\($0.c)\t\($0.b)" }
        for address in storeAddresses {
            try await withFolder { folder in
                let store = address(folder)
                for row in rows {
                    _ = await bodega("put", store, "\(row.c)", input: Array(try JSONEncoder().encode(row)))
                }
                for arguments in [
                    ["--sort", "a,b:desc", "--select", "b"], ["--sort", "a:asc", "--sort", "b:desc", "--select", "b"],
                    ["--sort", "a,b:desc", "--select", "b", "--limit", "7"],
                ] {
                    let lines = await bodega(arguments: ["query", store] + arguments).text.split(separator: "\n")
                    let count = arguments.contains("--limit") ? 7 : rows.count
                    #expect(lines.map(String.init) == Array(expected.prefix(count)), "\(arguments)")
                }
                let two = await bodega("query", store, "--sort", "c:desc", "--select", "c,b", "--limit", "1")
                #expect(two.text == "23\t23\t\(rows[23].b)\n")
                _ = await bodega("put", store, "k", input: Array(#"{"a,b": "word", "t": "more", "u": "words"}"#.utf8))
                let found = await bodega("query", store, "--search", "more words", "--search-in", "t,u", "--count")
                #expect(found.text == "1\n")
                let escaped = ["--sort", "a\\,b", "--select", "a\\,b", "--search", "word", "--search-in", "a\\,b"]
                #expect(await bodega(arguments: ["query", store] + escaped).text == "k\tword\n")
            }
        }
    }

    @Test("advises one index for several values of one direction")
    func advice() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "k", input: Array(#"{"a": 1, "b": 2}"#.utf8))
            let result = await bodega("query", store, "--sort", "a,b", "--explain")
            #expect(result.text.contains("--index 'a,b'\n"), "\(result.text)")
            _ = await bodega("query", store, "--index", "a,b")
            #expect(!(await bodega("query", store, "--sort", "a,b", "--explain").text.contains("would help")))
        }
    }
}
#endif
