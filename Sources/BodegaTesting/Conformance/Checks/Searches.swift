import Bodega
import Foundation

extension StorageEngineConformance.Check {

    /// The checks of indexes for searches. They apply to engines that can create one.
    public static let searches = [searchesFindWords, searchesContinueAfterPlaces, searchesFollowWrites]

    /// A search by an index finds the items whose texts match, in insertion order or in that of relevance, with the
    /// scores of BM25. It finds what was written before and after the index was created.
    public static let searchesFindWords = queryable("searches find words in their order") { examination, engine in
        let half = SearchedItem.all.count / 2
        try await SearchedItem.write(SearchedItem.all[..<half], to: engine, examination)
        guard let indexes = try await examination.creating(SearchedItem.index, on: engine) else { return }
        try await SearchedItem.write(SearchedItem.all[half...], to: engine, examination)
        examination.expect(
            try await indexes.fetchIndexes().contains(SearchedItem.index), "fetchIndexes() has the index for searches")
        for (text, found) in SearchedItem.searches {
            let search = StorageSearch(SearchedItem.index, SearchExpression(text))
            let entries = try await examination.entries(of: engine, .search(search))
            let expected = SearchedItem.all.map(\.name).filter(found.contains)
            examination.expectEqual(examination.names(of: entries), expected, "the items with \(text)")
            examination.expect(
                zip(entries, entries.dropFirst()).allSatisfy { $0.position < $1.position },
                "the items with \(text) have their positions")
            let count = try await examination.count(of: engine, [.search(search)], reading: []).count
            examination.expectEqual(count, found.count, "the number of items with \(text)")
            let ranked = try await examination.entries(of: engine, .search(examination.ranked(search, engine)))
            examination.expectEqual(examination.names(of: ranked), found, "the items with \(text) by relevance")
        }
        try await examination.expectScores(of: "red", engine)
    }

    /// A search continues after the place of each item, in both orders.
    public static let searchesContinueAfterPlaces = queryable("searches continue after places") {
        examination, engine in
        try await SearchedItem.write(SearchedItem.all[...], to: engine, examination)
        guard try await examination.creating(SearchedItem.index, on: engine) != nil else { return }
        for (text, _) in SearchedItem.searches {
            let search = StorageSearch(SearchedItem.index, SearchExpression(text))
            for search in [search, try await examination.ranked(search, engine)] {
                let whole = try await examination.entries(of: engine, .search(search))
                for (number, entry) in whole.enumerated() {
                    var rest = search
                    rest.place = entry.place
                    let entries = try await examination.entries(of: engine, .search(rest))
                    examination.expectEqual(
                        examination.names(of: entries), examination.names(of: Array(whole[(number + 1)...])),
                        "the items with \(text) after \(entry.place)")
                    let count = try await examination.count(of: engine, [.search(rest)], reading: []).count
                    examination.expectEqual(count, whole.count - number - 1, "their number after \(entry.place)")
                }
            }
        }
    }

    /// Searches, and the numbers on which relevance depends, follow each write and removal.
    public static let searchesFollowWrites = queryable("searches follow writes") { examination, engine in
        func write(_ name: String, _ title: String) async throws {
            try await engine.write(bytes("{\"title\":\"\(title)\"}"), key: examination.key(name))
        }
        func expect(_ names: [String], count: Int, length: Int, _ moment: String) async throws {
            let search = StorageSearch(SearchedItem.index, .words("apple"))
            let entries = try await examination.entries(of: engine, .search(search))
            examination.expectEqual(examination.names(of: entries), names, "the items with a word \(moment)")
            var ranking = SearchRanking(phrases: 1)
            (ranking.count, ranking.length, ranking.found) = (count, length, [names.count])
            let actual = try await engine.scan(ScanRequest([], ranking: search)) { { _, _ in true } }.value.ranking
            examination.expect(actual == ranking, "the numbers of all items \(moment)")
        }
        try await write("a", "an apple")
        guard let indexes = try await examination.creating(SearchedItem.index, on: engine) else { return }
        try await expect(["a"], count: 1, length: 2, "after the index was created")
        try await write("b", "one more apple")
        try await expect(["a", "b"], count: 2, length: 5, "after a write")
        try await write("a", "a pear")
        try await expect(["b"], count: 2, length: 5, "after one was overwritten")
        try await engine.write(bytes("no JSON"), key: examination.key("b"))
        try await expect([], count: 1, length: 2, "after the other one was overwritten")
        try await write("c", "apple")
        try await engine.remove(key: examination.key("a"))
        try await expect(["c"], count: 1, length: 1, "after a removal")
        try await engine.removeAllData()
        try await expect([], count: 0, length: 0, "after all were removed")
        try await write("b", "apple")
        try await expect(["b"], count: 1, length: 1, "after a write into the empty engine")
        try await indexes.removeIndex(SearchedItem.index)
        try await write("a", "apple apple")
        let existing = try await indexes.fetchIndexes()
        examination.expect(!existing.contains(SearchedItem.index), "fetchIndexes() has no removed index for searches")
        try await indexes.createIndex(SearchedItem.index)
        try await expect(["b", "a"], count: 2, length: 3, "after the index was removed and created again")
    }
}

/// An item of the checks of searches.
private struct SearchedItem: Sendable {
    let name: String
    let json: String

    static let index = StorageIndex.search(["title", "tags"])
    static let weights = [2.0, 1.0]

    static let all = [
        SearchedItem(name: "red", json: #"{"title":"Red apple"}"#),
        SearchedItem(name: "green", json: #"{"title":"green apple, apple","tags":["fruit"]}"#),
        SearchedItem(name: "no JSON", json: "apple"),
        SearchedItem(name: "pear", json: #"{"title":"A pear","tags":["fruit","red tree"]}"#),
        SearchedItem(name: "redder", json: #"{"title":"redder than all of the others here"}"#),
        SearchedItem(name: "elsewhere", json: #"{"other":"apple"}"#),
        SearchedItem(name: "list", json: #"{"title":["\u00C4pfel","big"],"tags":"apple"}"#),
        SearchedItem(name: "empty", json: #"{"title":"","tags":[1,null]}"#),
        SearchedItem(name: "long", json: #"{"title":"this apple is one of many others"}"#),
        SearchedItem(name: "twin", json: #"{"title":"Red apple"}"#),
    ]

    /// The texts of searches, and the items that match, by relevance as SQLite's FTS5 computes it.
    static let searches: [(text: String, found: [String])] = [
        ("apple", ["green", "red", "twin", "long", "list"]),
        ("pear", ["pear"]),
        ("ÉLAN", []),
        ("apfel", ["list"]),
        ("\"apple apple\"", ["green"]),
        ("\"others here\"", ["redder"]),
        ("\"tree a\"", []),
        ("red*", ["red", "twin", "redder", "pear"]),
        ("apple -red", ["green", "long", "list"]),
        ("red AND apple", ["red", "twin"]),
        ("pear OR others", ["pear", "redder", "long"]),
    ]

    static func write(
        _ items: ArraySlice<SearchedItem>, to engine: any StorageBackend, _ examination: Examination
    ) async throws {
        for item in items { try await engine.write(bytes(item.json), key: examination.key(item.name)) }
    }
}

extension Examination {

    /// The search in the order of relevance, with the numbers that the engine knows.
    fileprivate func ranked(_ search: StorageSearch, _ engine: any StorageBackend) async throws -> StorageSearch {
        var search = search
        let ranking = try await engine.scan(ScanRequest([], ranking: search)) { { _, _ in true } }.value.ranking
        guard let ranking else {
            expect(false, "a scan reports the numbers of all items")
            return search
        }
        search.relevance = StorageSearch.Relevance(weights: SearchedItem.weights, ranking: ranking)
        return search
    }

    /// Compares the scores of the items with a word with those of the formula.
    fileprivate func expectScores(of word: String, _ engine: any StorageBackend) async throws {
        let search = StorageSearch(SearchedItem.index, .words(word))
        let entries = try await entries(of: engine, .search(ranked(search, engine)))
        // Of each item with a text: how often the word is in the title and in the tags, and the number of words.
        let texts: [(title: Double, tags: Double, length: Double)] = [
            (1, 0, 2), (1, 0, 2), (0, 1, 5), (0, 0, 4), (0, 0, 7), (0, 0, 3), (0, 0, 7), (0, 0, 0),
        ]
        let average = texts.reduce(0) { $0 + $1.length } / Double(texts.count)
        let rarity = log((8 - 3 + 0.5) / (3 + 0.5))
        let expected = texts.prefix(3).map { text in
            let frequency = text.title * 2 + text.tags
            return rarity * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * text.length / average))
        }
        let actual = entries.map { entry in
            switch entry.sortKey {
            case .integer(let score)?: Double(score)
            case .real(let score)?: score
            default: Double.nan
            }
        }
        let areEqual = zip(actual, expected).allSatisfy { abs($0 - $1) <= 1e-12 * $1 }
        expect(actual.count == expected.count && areEqual, "the scores of \(word) are those of the formula")
    }
}
