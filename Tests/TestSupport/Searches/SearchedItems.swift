package import Bodega
package import BodegaTesting
package import Foundation
package import Testing

/// Random items with texts, and what searches must find in them: what FTS5 finds.
package enum SearchedItems {
    package static let index = StorageIndex.search(["title", "tags"])
    private static let weights = [2.0, 1.0]

    /// The texts of an item as Foundation decodes it, `nil` for one without any.
    private static func texts(_ data: Data) -> [String]? {
        struct Texts: Decodable {
            var title: String?
            var tags: [String]?

            enum CodingKeys: CodingKey { case title, tags }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                // A member that is something else has no text.
                title = try? container.decode(String.self, forKey: .title)
                tags = try? container.decode([String].self, forKey: .tags)
            }
        }
        guard let texts = try? JSONDecoder().decode(Texts.self, from: data) else { return nil }
        let tags = texts.tags.flatMap { $0.isEmpty ? nil : $0.joined(separator: "\n") }
        return texts.title == nil && tags == nil ? nil : [texts.title ?? "", tags ?? ""]
    }

    /// Compares random searches by the index with what FTS5 says about the texts of all items.
    package static func check(
        _ engine: any StorageBackend, _ random: inout SeededGenerator, _ comment: Comment
    ) async throws {
        var items: [(key: CacheKey, texts: [String])] = []
        for (key, data) in try await engine.fetchAll() {
            if let texts = Self.texts(data) { items.append((key, texts)) }
        }
        let table = try FTS5(columns: 2, tokenizer: "unicode61 remove_diacritics 2")
        if !items.isEmpty { try table.insert(items.map(\.texts)) }
        for _ in 0..<6 {
            let expression = SearchSamples.expression(&random, form: .words)
            guard let text = SearchPattern(expression, .words).fts5 else { continue }
            let rows = try table.search(text, weights: Self.weights)
            let expected = rows.sorted { ($1.score, $0.row) < ($0.score, $1.row) }
            let search = StorageSearch(Self.index, expression)
            let reader = StorageReader(engine)
            let ranking = try #require(try await reader.fetchRanking(of: search))
            #expect(ranking.count == items.count, comment)
            let found = try await Self.found(search, in: engine)
            #expect(found.map(\.key) == rows.map { items[$0.row - 1].key }, "\(comment) \(text)")
            #expect(try await reader.count([.search(search)], upTo: .max) == rows.count)
            if ranking.count == 0 { continue }
            var byRelevance = search
            byRelevance.relevance = StorageSearch.Relevance(weights: Self.weights, ranking: ranking)
            let ranked = try await Self.found(byRelevance, in: engine)
            #expect(ranked.map(\.key) == expected.map { items[$0.row - 1].key }, "\(comment) \(text)")
            for (item, row) in zip(ranked, expected) {
                let score = try #require(item.sortKey)
                let value: Double =
                    if case .real(let real) = score { real } else if case .integer(let integer) = score {
                        Double(integer)
                    } else { .nan }
                #expect(abs(value - row.score) <= 1e-12 * abs(row.score), "\(comment) \(text)")
            }
            // From any place on.
            guard let middle = ranked.randomElement(using: &random) else { continue }
            byRelevance.place = middle.place
            let rest = try await Self.found(byRelevance, in: engine).map(\.key)
            #expect(rest == Array(ranked.map(\.key).drop { $0 != middle.key }.dropFirst()), "\(comment) \(text)")
        }
    }

    private static func found(_ search: StorageSearch, in engine: any StorageBackend) async throws -> [StorageItem] {
        let items = Locked<[StorageItem]>([])
        try await StorageReader(engine).scan([.search(search)]) {
            items.withLock { $0 = [] }
            return { _, item in
                items.withLock { $0.append(item) }
                return true
            }
        }
        return items.withLock { $0 }
    }

    /// A random item: JSON with texts in some spelling, or something else.
    package static func json(_ random: inout SeededGenerator) -> Data {
        let title = SearchSamples.text(&random, words: 0...4)
        let tags = (0..<Int.random(in: 0...2, using: &random)).map { _ in SearchSamples.text(&random, words: 1...2) }
        var object: [String: Any] = ["title": title]
        if !tags.isEmpty { object["tags"] = tags }
        guard let data = try? JSONSerialization.data(withJSONObject: object) else { return Data() }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return Data("not JSON, but alpha".utf8)
        case 1: return Data(#"{"title":"alph\u0061 b\u00e9ta","tags":["x1"]}"#.utf8)
        case 2: return Data(#"{"tags":[],"other":"alpha"}"#.utf8)
        case 3: return Data(#"{"title":"C:\\users gamma","tags":["a \"quoted\" line\nbreak"]}"#.utf8)
        default: return data
        }
    }
}
