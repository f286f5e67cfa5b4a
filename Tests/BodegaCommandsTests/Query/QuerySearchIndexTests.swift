#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("An index for searches")
struct QuerySearchIndexTests {

    /// The addresses of stores that have indexes for searches.
    private static let stores: [@Sendable (URL) async throws -> String] = {
        var stores: [@Sendable (URL) async throws -> String] = [{ storeAddresses[0]($0) }]
        #if Postgres
        stores.append { _ in try await PostgresServer.shared().makeDatabase().url + "#notes" }
        #endif
        return stores
    }()

    @Test("is not read completely by a sorted query with a limit, if an index has the order", arguments: stores)
    func sortedPage(address: @Sendable (URL) async throws -> String) async throws {
        try await withFolder { folder in
            let store = try await address(folder)
            let items = (0..<2_000).map { number in
                let rare = number % 100 == 7 ? " rare" : ""
                return #"{"k":\#(number),"n":\#(number * 7 % 2_000),"t":"common\#(rare)"}"# + "\n"
            }
            let imported = await bodega("import", store, "--key", "k", "--quiet", input: Array(items.joined().utf8))
            try #require(imported.status == 0)
            #expect(await bodega("query", store, "--index", "n").status == 0)
            #expect(await bodega("query", store, "--search-index", "t").status == 0)
            func query(_ word: String, _ more: String...) async -> RunResult {
                await bodega(
                    arguments: [
                        "query", store, "--search", word, "--search-in", "t", "--sort", "n:desc", "--select", "n",
                        "--limit", "5",
                    ] + more)
            }
            let numbers = (0..<2_000).sorted(by: >)
            let common = numbers.prefix(5)
            #expect(
                await query("common").text.split(separator: "\n").map {
                    $0.split(separator: "\t").last.map(String.init)
                }
                    == common.map { "\($0)" })
            let rare = numbers.filter { number in (0..<20).contains { ($0 * 100 + 7) * 7 % 2_000 == number } }.prefix(5)
            #expect(
                await query("rare").text.split(separator: "\n").map { $0.split(separator: "\t").last.map(String.init) }
                    == rare.map { "\($0)" })
            for (word, plan) in [("common", "in the order of the index n"), ("rare", "finds items by words")] {
                let explained = await query(word, "--explain", "--json")
                let object = try #require(
                    try JSONSerialization.jsonObject(with: Data(explained.text.utf8)) as? [String: Any], "\(explained)")
                let read = try #require(object["read"] as? Int, "\(explained)")
                #expect(read <= 100 && explained.text.contains(plan), "\(explained)")
            }
        }
    }

    @Test("changes no result, is listed, used and removed", arguments: stores)
    func lifetime(address: @Sendable (URL) async throws -> String) async throws {
        try await withFolder { folder in
            let store = try await address(folder)
            let texts = ["red apple", "green apple apple", "a pear", "redder", "Äpfel"]
            for (number, text) in texts.enumerated() {
                let item = #"{"title":"\#(text)","tags":["t\#(number % 2)"]}"#
                try #require(await bodega("put", store, "\(number)", input: Array(item.utf8)).status == 0)
            }
            let fields = ["--search-in", "title", "--search-in", "tags"]
            let searches = ["apple", "red*", "apple -red", "t0 OR pear", "-apple", "apfel", "\"green apple\"", "none"]
            let results = [
                [], ["--limit", "1"], ["--count"], ["--sort", "title"], ["--where", "@.title != 'a pear'"],
            ]
            let queries = searches.flatMap { words in
                results.map { ["query", store, "--search", words] + fields + $0 }
            }
            var before: [RunResult] = []
            for query in queries {
                before.append(await bodega(arguments: query))
                // Once this ended the process.
                let explained = await bodega(arguments: query + ["--explain"])
                let helps = !query.contains("-apple")
                #expect(explained.status == 0, "\(query): \(explained)")
                #expect(explained.text.contains("\nitems read: "), "\(query): \(explained)")
                #expect(
                    explained.text.contains("--search-index 'title,tags'") == helps, "\(query): \(explained)")
            }
            let selected = await bodega(
                arguments: ["query", store, "--search", "apple", "--select", "title"] + fields)
            #expect(selected.text == "1\tgreen apple apple\n0\tred apple\n")
            let created = await bodega("query", store, "--search-index", "title,tags")
            #expect(created.errors == "bodega: note: created an index of the words in title,tags.\n")
            #expect(created.status == 0 && created.text == "")
            let again = await bodega("query", store, "--search-index", "title,tags")
            #expect(again.errors == "bodega: note: there already is an index of the words in title,tags.\n")
            for (query, before) in zip(queries, before) {
                let after = await bodega(arguments: query)
                #expect(after == before, "\(query): \(before.text) \(after.text)")
            }
            #expect(await bodega("query", store, "--indexes").text == "title,tags\twords\n")
            let explained = await bodega(arguments: ["query", store, "--search", "apple", "--explain"] + fields).text
            let plan = "finds items by words in the index title, tags (words), in the order of relevance"
            #expect(explained.hasPrefix("\(plan)\nitems read: "), "\(explained)")
            let removed = await bodega(
                "query", store, "--drop-search-index", "title,tags", "--drop-index", "title,tags")
            #expect(
                removed.errors == """
                    bodega: note: there is no index over title,tags, and nothing is left of an interrupted creation.
                    bodega: note: removed the index of the words in title,tags.

                    """)
            #expect(await bodega("query", store, "--indexes").text == "")
        }
    }

    @Test("of parts of words is one of its own")
    func substrings() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            for text in ["apple", "pineapple apple", "pear"] {
                try #require(await bodega("put", store, text, input: Array(#"{"t":"\#(text)"}"#.utf8)).status == 0)
            }
            let created = await bodega("query", store, "--search-index", "t", "--substrings")
            #expect(created.errors == "bodega: note: created an index of the parts of words in t.\n")
            let query = ["query", store, "--search", "ppl", "--search-in", "t", "--substrings", "--select", "t"]
            let found = await bodega(arguments: query + ["--sort", "t"]).text
            #expect(found == "apple\tapple\npineapple apple\tpineapple apple\n")
            #expect(
                await bodega("query", store, "--indexes", "--json").text == #"{"path":"t","kind":"substrings"}"# + "\n")
            #expect(await bodega("query", store, "--drop-search-index", "t").errors.contains("there is no index"))
            #expect(await bodega("query", store, "--substrings").status == 64)
            #expect(await bodega("query", store, "--search-index", "t..u").status == 64)
        }
    }

    @Test("is not for folders")
    func folders() async throws {
        try await withFolder { folder in
            let store = "disk:\(folder.path)/items"
            try #require(await bodega("put", store, "a", input: Array(#"{"t":"a"}"#.utf8)).status == 0)
            let refused = await bodega("query", store, "--search-index", "t")
            #expect(refused.status == 64 && refused.errors.contains("A folder has no indexes"))
        }
    }
}
#endif
