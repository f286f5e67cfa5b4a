#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import Testing

@Suite("An index for queries")
struct QueryIndexTests {

    /// Items whose places in an index are hard to know: escapes, numbers that are not integers, other types, no JSON.
    private static let items = [
        #"{"n":1,"s":"a"}"#, #"{"n":"1","s":"b"}"#, #"{"n":2.5,"s":"\u0062"}"#, #"{"n":null}"#, #"{"s":"é"}"#,
        #"{"n":true,"s":["a"]}"#, #"{"n":-1e300,"s":"e\#u{301}"}"#, #"{"n":0.1,"o":{"p.q":7}}"#, #"[1]"#, "no JSON",
        #"{"n":1e400}"#, #"{"n":9007199254740993,"o":{"p.q":"x"}}"#, #"{"n":9007199254740992}"#, #"{"n":1,"s":"B"}"#,
    ]

    private func withItems(_ body: (String) async throws -> Void) async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            for (number, item) in Self.items.enumerated() {
                try #require(await bodega("put", store, "\(number)", input: Array(item.utf8)).status == 0)
            }
            try await body(store)
        }
    }

    private static let conditions: [[String]] = [
        [], ["--where", "@.n > 0"], ["--where", "@.n == 1"], ["--where", "@.n == 9007199254740993"],
        ["--where", "!(@.n < 2)"], ["--where", "@.n"], ["--where", "!@.n"], ["--where", "@.s == 'b' || @.n == 0.1"],
        ["--where", "@.s >= 'b' && @.n < 3"], ["--where", "@.o['p.q'] == 7"], ["--where", "@.n == null"],
    ]

    private static let results: [[String]] = [
        [], ["--sort", "n"], ["--sort", "n:desc"], ["--sort", "s:desc"], ["--sort", "o.p\\.q"], ["--limit", "2"],
        ["--count"], ["--sort", "n", "--limit", "3", "--json"],
    ]

    private static var queries: [[String]] {
        conditions.flatMap { (condition: [String]) -> [[String]] in results.map { condition + $0 } }
    }

    @Test("changes no result")
    func results() async throws {
        try await withItems { store in
            var before: [RunResult] = []
            for query in Self.queries { before.append(await bodega(arguments: ["query", store] + query)) }
            #expect(await bodega("query", store, "--index", "n", "--index", "s", "--index", "o.p\\.q").status == 0)
            for (query, before) in zip(Self.queries, before) {
                let after = await bodega(arguments: ["query", store] + query)
                #expect(after.status == 0 && after.output == before.output, "\(query): \(before.text) \(after.text)")
                // The index can't know a place for what is not JSON.
                if !query.contains("--limit") { #expect(after.errors == before.errors, "\(query)") }
            }
            #expect(before[0].errors == "bodega: note: items that are not JSON were left out: 1\n")
        }
    }

    @Test("is created, listed, used and removed")
    func lifetime() async throws {
        try await withItems { store in
            #expect(await bodega("query", store, "--indexes") == RunResult(status: 0, output: [], errors: ""))
            let created = await bodega("query", store, "--index", "s", "--index", "n")
            let notes = "bodega: note: created an index over s.\nbodega: note: created an index over n.\n"
            #expect(created == RunResult(status: 0, output: [], errors: notes))
            #expect(await bodega("query", store, "--indexes").text == "n\tvalue\ns\tvalue\n")
            let again = await bodega("query", store, "--index", "n", "--where", "@.n == 2.5", "--select", "n")
            #expect(
                again.text == "2\t2.5\n" && again.errors.hasPrefix("bodega: note: there already is an index over n.\n"))
            let removed = await bodega("query", store, "--drop-index", "n", "--drop-index", "x", "--index", "o.p\\.q")
            #expect(
                removed.errors == """
                    bodega: note: removed the index over n.
                    bodega: note: there is no index over x, and nothing is left of an interrupted creation.
                    bodega: note: created an index over o.p\\.q.

                    """)
            #expect(
                await bodega("query", store, "--indexes", "--json").text
                    == #"{"path":"o.p\\.q","kind":"value"}"# + "\n" + #"{"path":"s","kind":"value"}"# + "\n")
        }
    }

    /// The copy is what a program leaves that is killed.
    @Test("whose creation was interrupted is named, and removed", arguments: ["n", "n,s"])
    func interrupted(path: String) async throws {
        try await withFolder { folder in
            let (file, copy) = (folder.appendingPathComponent("a.db"), folder.appendingPathComponent("b.db"))
            let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
            try await engine.write(
                (0..<30_000).map { (CacheKey(verbatim: "\($0)"), Data(#"{"n":\#($0),"s":"x"}"#.utf8)) })
            let names = path.split(separator: ",").map { StorageIndex.Member(String($0), isForText: false) }
            let failure = Locked<(any Error)?>(CancellationError())
            try await engine.createIndex(StorageIndex(names[0], Array(names.dropFirst()))) { examined, _ in
                guard examined > 0, failure.withLock({ $0 is CancellationError }) else { return }
                failure.withLock { failure in
                    do {
                        for end in ["", "-wal"] {
                            try FileManager.default.copyItem(atPath: file.path + end, toPath: copy.path + end)
                        }
                        failure = nil
                    } catch { failure = error }
                }
            }
            #expect(failure.withLock { $0 } == nil)
            let found = await bodega("verify", copy.path)
            let list = path.replacing(",", with: ", ")
            #expect(found.text.contains("The index over \(list) is being created"), "\(found)")
            #expect(await bodega("query", copy.path, "--drop-index", path).status == 0)
            #expect(await bodega("verify", copy.path).text.contains("index") == false)
            #expect(await bodega("count", copy.path).text == "30000\n")
        }
    }

    @Test("over several values is created, listed, used and removed, and changes no result")
    func compound() async throws {
        try await withItems { store in
            let query = ["query", store, "--where", "@.n == 1", "--sort", "s:desc"]
            let before = await bodega(arguments: query)
            #expect(before.text.split(separator: "\n").count == 2)
            let created = await bodega("query", store, "--index", "n,s", "--index", "a\\,b")
            #expect(
                created.errors == "bodega: note: created an index over n,s.\n"
                    + "bodega: note: created an index over a\\,b.\n")
            #expect(await bodega("query", store, "--indexes").text == "a\\\\,b\tvalue\nn,s\tvalue,value\n")
            #expect(await bodega(arguments: query) == before)
            let plan = await bodega(arguments: query + ["--explain"])
            #expect(plan.text.hasPrefix("reads items in the order of the index n, s, narrowed by it"), "\(plan.text)")
            #expect(await bodega("query", store, "--index", "n,s").errors.contains("already is an index over n,s"))
            #expect(await bodega("query", store, "--index", "n,n").errors.contains("is there twice"))
            for (path, advice) in [
                ("n:desc", "both directions"), ("m,n:asc", "both directions"), ("@.n", "without @"),
                ("$.n", "without @"),
                ("n[0]", "no brackets"), ("[0].n", "no brackets"),
            ] {
                let result = await bodega("query", store, "--index", path)
                #expect(result.status == 64 && result.errors.contains(advice), "\(path): \(result.errors)")
            }
            #expect(await bodega("query", store, "--drop-index", "n,s").errors.contains("removed the index over n,s"))
            #expect(await bodega("query", store, "--indexes").text == "a\\\\,b\tvalue\n")
        }
    }

    /// Counts from the explanation; 3,000 items in 30 groups.
    @Test("over several members is read up to the limit, in all directions, and beside a smaller index")
    func severalMembers() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            let lines = (0..<3_000).map { #"{"id":"k\#($0)","g":\#($0 % 30),"n":\#($0 * 7919 % 3_000)}"# }
            let input = Array(lines.joined(separator: "\n").utf8)
            #expect(await bodega("import", store, "-", "--key", "id", input: input).status == 0)
            let queries = [
                ["--sort", "g,n"], ["--sort", "g:desc,n"], ["--sort", "g,n:desc"], ["--sort", "g:desc,n:desc"],
                ["--where", "@.g == 5", "--sort", "n"], ["--where", "@.g > 5", "--sort", "g,n"],
            ].flatMap { query in ["1", "10", "150"].map { query + ["--limit", $0] } }
            var before: [RunResult] = []
            for query in queries { before.append(await bodega(arguments: ["query", store] + query)) }
            for index in ["g,n", "g"] {
                #expect(await bodega("query", store, "--index", index).status == 0)
                for (query, before) in zip(queries, before) {
                    #expect(await bodega(arguments: ["query", store] + query) == before, "\(query)")
                    let plan = await bodega(arguments: ["query", store, "--explain", "--json"] + query)
                    let object = try JSONSerialization.jsonObject(with: Data(plan.text.utf8)) as? [String: Any]
                    let read = try #require(object?["read"] as? Int)
                    #expect(read <= 700, "\(query): \(plan.text)")
                }
            }
        }
    }

    @Test("of some items is created, listed, used and removed, and changes no result")
    func partial() async throws {
        try await withItems { store in
            let query = ["query", store, "--where", "@.s >= 'A' && @.n == 1", "--sort", "s:desc"]
            let before = await bodega(arguments: query)
            #expect(before.text.split(separator: "\n").count == 2)
            let created = await bodega("query", store, "--index", "s", "--index-where", "@.n == 1")
            #expect(created.errors == "bodega: note: created an index over s where @.n == 1.\n")
            #expect(await bodega("query", store, "--indexes").text == "s\tvalue\t@.n == 1\n")
            #expect(
                await bodega("query", store, "--indexes", "--json").text
                    == #"{"path":"s","kind":"value","where":"@.n == 1"}"# + "\n")
            #expect(await bodega(arguments: query) == before)
            let plan = await bodega(arguments: query + ["--explain"])
            #expect(plan.text.hasPrefix("reads items in the order of the index s where @.n == 1, narrowed"))
            // What is printed can be passed on.
            let texts = ["@.n == 1", #"@.s == "a\"b" && @['o p'] == null"#, "@.b == false", #"@.s == "\\'\"""#]
            for text in texts {
                #expect(await bodega("query", store, "--index", "z", "--index-where", text).status == 0)
                let lines = await bodega("query", store, "--indexes", "--json").text.split(separator: "\n")
                let line = try #require(lines.first { $0.contains(#""path":"z""#) })
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                let printed = try #require(object?["where"] as? String)
                #expect(
                    await bodega("query", store, "--drop-index", "z", "--index-where", printed).errors
                        .contains("removed"), "\(printed)")
            }
            let other = await bodega("query", store, "--where", "@.n < 2", "--sort", "s", "--explain")
            #expect(other.text.hasPrefix("reads all items"), "\(other.text)")
            #expect(await bodega("query", store, "--index", "s").errors.contains("created an index over s."))
            #expect(
                await bodega("query", store, "--drop-index", "s", "--index-where", "1 == @.n").errors
                    == "bodega: note: removed the index over s where 1 == @.n.\n")
            #expect(await bodega("query", store, "--indexes").text == "s\tvalue\n")
            let refused = [
                "@.n > 1", "@.n == 1.5", "@.n == 1 || @.s == 'a'", "@.n == @.s", "@.n == 1 && @.n == 2", "x",
            ]
            for condition in refused {
                let result = await bodega("query", store, "--index", "n", "--index-where", condition)
                #expect(result.status == 64 && result.errors.contains("--index-where"), "\(result)")
            }
            #expect(await bodega("query", store, "--index-where", "@.n == 1").status == 64)
        }
    }

    @Test("of a program is listed with its kind, used by the tool, and removed by it")
    func ofProgram() async throws {
        try await withItems { store in
            let engine = try StorageAddress(parsing: store).open()
            let queryable = try #require(engine as? any StorageBackend)
            try await queryable.createIndex(StorageIndex("s"))
            #expect(await bodega("query", store, "--indexes").text == "s\ttext\n")
            #expect(await bodega("query", store, "--index", "s").errors.contains("already"))
            #expect(
                await bodega("query", store, "--sort", "s", "--explain").text.contains("in the order of the index s"))
            #expect(await bodega("query", store, "--drop-index", "s").status == 0)
            #expect(try await queryable.fetchIndexes().isEmpty)
        }
    }

    @Test("over a collection leaves other collections without one")
    func collections() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            for collection in ["#a", "#b"] {
                _ = await bodega("put", store + collection, "k", input: Array("{\"n\":1}".utf8))
            }
            #expect(await bodega("query", store, "--collection", "a", "--index", "n").status == 0)
            #expect(await bodega("query", store + "#a", "--indexes").text == "n\tvalue\n")
            #expect(await bodega("query", store + "#b", "--indexes").text == "")
        }
    }

    @Test("is refused with the reason, and nothing is changed")
    func refusals() async throws {
        try await withItems { store in
            for (arguments, reason) in [
                (["--index", "n", "--index", "a\"b"], "quotation mark"), (["--index", ""], "not a path"),
                (["--index", "n", "--where", "@.a ="], "Equality"), (["--indexes", "--count"], "--indexes"),
                (["--index", "n", "--sort", "n:up"], "not a direction"), (["--drop-index", "a\\"], "not a path"),
                (["--index", "a\\b"], "backslash"),
                (["--sort", "a\\b"], "backslash"),
            ] {
                let result = await bodega(arguments: ["query", store] + arguments)
                #expect(result.status == 64 && result.output.isEmpty, "\(arguments)")
                #expect(result.errors.contains(reason), "\(arguments): \(result.errors)")
            }
            // Those before the one that is refused exist.
            #expect(await bodega("query", store, "--indexes").text == "n\tvalue\n")
        }
    }

    @Test("is refused by a folder, which says how to get one")
    func folder() async throws {
        try await withFolder { folder in
            let store = storeAddresses[1](folder)
            _ = await bodega("put", store, "k", input: Array("{\"n\":1}".utf8))
            for option in ["--index", "--drop-index"] {
                let result = await bodega("query", store, option, "n")
                #expect(result.status == 64 && result.errors.contains("bodega copy \(store) sqlite:PATH"))
            }
            #expect(await bodega("query", store, "--indexes").text == "")
            let explanation = await bodega("query", store, "--where", "@.n == 1", "--explain")
            #expect(
                explanation.text.hasPrefix(
                    "reads items in insertion order\nitems read: 1, examined: 1\nindexes: none\nA folder has no"))
            #expect(!explanation.text.contains("--index"))
        }
    }

    @Test("is refused for encrypted items, with and without their keyset")
    func encrypted() async throws {
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder)
            for keyset in [[], ["--keyset", place.keyset]] {
                let result = await bodega(arguments: ["query", place.store, "--index", "name"] + keyset)
                #expect(result.status == 64 && result.errors.contains("are encrypted"))
                #expect(await bodega(arguments: ["query", place.store, "--indexes"] + keyset).text == "")
            }
            let explanation = await bodega(
                "query", place.store, "--sort", "name", "--explain", "--json", "--keyset", place.keyset)
            let plan = #"{"plan":"reads all items and sorts the matches","indexes":[],"advice":[],"#
            #expect(explanation.text.hasPrefix(plan))
        }
    }

    @Test("is not created in a missing store, and neither is the store", arguments: storeAddresses)
    func missing(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let result = await bodega("query", address(folder), "--index", "n")
            #expect(result.status == 1 && result.errors.hasPrefix("bodega: There is no store at "))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.isEmpty)
        }
    }

    // MARK: Explanations

    @Test("is what an explanation advises, and is then in the explanation")
    func explanations() async throws {
        try await withItems { store in
            func explained(_ arguments: String...) async -> [String] {
                let result = await bodega(arguments: ["query", store, "--explain"] + arguments)
                #expect(result.status == 0 && result.errors == "", "\(arguments)")
                return result.text.split(separator: "\n").map(String.init)
            }
            let advice = "an index would help: bodega query \(store) "
            #expect(
                await explained("--where", "@.o['p.q'] == 7 && length(@.x) > 1", "--sort", "n") == [
                    "reads all items and sorts the matches", "items read: 14, examined: 14", "indexes: none",
                    advice + "--index 'o.p\\.q' or --index n",
                ])
            #expect(
                await explained() == [
                    "reads items in insertion order", "items read: 14, examined: 14", "indexes: none",
                ]
            )
            #expect(
                await explained("--limit", "5") == [
                    "reads items in insertion order, until the limit", "items read: 5, examined: 5", "indexes: none",
                ])
            #expect(await explained("--where", "@.n", "--count").last == advice + "--index n")
            _ = await bodega("query", store, "--index", "n")
            #expect(
                await explained("--where", "@.n == 1", "--limit", "5") == [
                    "finds items by the index n, in insertion order, until the limit",
                    // Three items with the number, the one that is not JSON, and one with an escape.
                    "items read: 5, examined: 5", "indexes: n",
                    "outside of the index: 2, such as those that are not JSON, or have escapes like \\u00e9",
                ])
            #expect(
                await explained("--where", "@.n > 1", "--sort", "n:desc", "--limit", "5").first
                    == "reads items in the order of the index n, narrowed by it, until the limit")
            #expect(
                await explained("--where", "@.n > 1", "--count").first
                    == "counts items by the index n, and reads only those about which it can be wrong")
            #expect(
                await explained("--where", "@.n > 1", "--count").last
                    == "outside of the index: 2, such as those that are not JSON, or have escapes like \\u00e9")
            #expect(
                await bodega("query", store, "--explain", "--sort", "s", "--json").text
                    == #"{"plan":"reads all items and sorts the matches","indexes":["n"],"advice":["s"],"#
                    // The 13 that are JSON are read again in their order.
                    + #""read":27,"examined":27,"outside":0}"# + "\n")
        }
    }
}
#endif
