import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

@Suite("Indexes for searches", .timeLimit(.minutes(10)))
struct SearchIndexTests {
    private let folder = TemporaryFolder()
    private static let index = StorageIndex.search(["title", "tags"])
    private static let weights = [2.0, 1.0]

    private var file: URL { folder.directory.url.appendingPathComponent("data.sqlite3") }

    private func engine() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    // MARK: The oracle

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

    /// Compares searches with what FTS5 says about the texts of all items.
    private func check(
        _ engine: SQLiteStorageEngine, _ random: inout SeededGenerator, _ comment: Comment
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

    private static func found(_ search: StorageSearch, in engine: SQLiteStorageEngine) async throws -> [StorageItem] {
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

    // MARK: Any writer

    private static func json(_ random: inout SeededGenerator) -> Data {
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

    /// Changes the table like a program that knows neither this package nor FTS5.
    private func changeInSQL(_ queue: DatabaseQueue, _ random: inout SeededGenerator) throws {
        let (number, other) = (Int.random(in: 0..<30, using: &random), Int.random(in: 0..<30, using: &random))
        let data = Self.json(&random)
        let kind = Int.random(in: 0..<9, using: &random)
        try queue.write { db in
            let columns = "(key, value, createdAt, updatedAt)"
            let values = "VALUES (?, ?, '2026-01-01 00:00:00.000', '2026-01-01 00:00:00.000')"
            let key = "k\(number)"
            switch kind {
            case 0: try db.execute(sql: "INSERT OR REPLACE INTO data \(columns) \(values)", arguments: [key, data])
            case 1: try db.execute(sql: "INSERT OR IGNORE INTO data \(columns) \(values)", arguments: [key, data])
            case 2: try db.execute(sql: "UPDATE data SET value = ? WHERE key = ?", arguments: [data, key])
            case 3: try db.execute(sql: "DELETE FROM data WHERE key = ?", arguments: [key])
            case 4:
                try db.execute(
                    sql: "UPDATE OR REPLACE data SET key = ? WHERE key = ?", arguments: ["k\(other)", key])
            case 5:
                try db.execute(
                    sql: """
                        INSERT INTO data \(columns) \(values) ON CONFLICT (key) DO UPDATE SET value = excluded.value
                        """, arguments: [key, data])
            case 6:
                try db.execute(
                    sql: "UPDATE data SET updatedAt = '2026-02-01 00:00:00.000' WHERE key = ?", arguments: [key])
            case 7:
                let row = try Int.fetchOne(db, sql: "SELECT rowid FROM data ORDER BY random() LIMIT 1")
                try db.execute(
                    sql:
                        "INSERT OR REPLACE INTO data (rowid, key, value, createdAt, updatedAt) VALUES (?, ?, ?, '', '')",
                    arguments: [row, key, data])
                try db.execute(sql: "UPDATE data SET createdAt = updatedAt WHERE createdAt = ''")
            default:
                try db.execute(
                    sql: "UPDATE OR REPLACE data SET rowid = ? WHERE key = ?", arguments: [other + 1, key])
            }
        }
    }

    @Test("A search finds what FTS5 finds in the items, after any changes by any program, with parts of them indexed")
    func anyChanges() async throws {
        for seed in Seed.current..<Seed.current + UInt64(max(TestSizes.queries / 20, 20)) {
            var random = SeededGenerator(seed: seed)
            let folder = TemporaryFolder()
            let engine = try SQLiteStorageEngine(opening: folder.directory)
            let keys = (0..<30).map { CacheKey(verbatim: "k\($0)") }
            for key in keys.prefix(Int.random(in: 0...30, using: &random)) {
                try await engine.write(Self.json(&random), key: key)
            }
            try await engine.createIndex(Self.index)
            let queue = try DatabaseQueue(path: engine.file.path)
            for step in 0..<24 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: _ = try await engine.core.updateSearches(of: engine.table)
                case 1: try await engine.write(Self.json(&random), key: SearchSamples.pick(keys, &random))
                case 2: try await engine.remove(key: SearchSamples.pick(keys, &random))
                case 3:
                    let operations = keys.shuffled(using: &random).prefix(5).map {
                        StorageOperation.write(key: $0, data: Self.json(&random))
                    }
                    _ = try await engine.apply(StorageBatch(Array(operations)))
                case 4 where Int.random(in: 0..<6, using: &random) == 0: try await engine.removeAllData()
                default: try changeInSQL(queue, &random)
                }
                if step % 4 == 3 {
                    #expect(try await engine.fetchIndexes() == [Self.index], "seed \(seed)")
                    try await check(engine, &random, "seed \(seed), step \(step)")
                }
            }
            let isWhole = try await queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
            #expect(isWhole == "ok")
        }
    }
}
