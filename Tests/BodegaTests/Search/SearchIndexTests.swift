import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

@Suite("Indexes for searches")
struct SearchIndexTests {
    private let folder = TemporaryFolder()

    private var file: URL { folder.directory.url.appendingPathComponent("data.sqlite3") }

    private func engine() throws -> SQLiteStorageEngine { try SQLiteStorageEngine(opening: folder.directory) }

    // MARK: Any writer

    /// Changes the table like a program that knows neither this package nor FTS5.
    private func changeInSQL(_ queue: DatabaseQueue, _ random: inout SeededGenerator) throws {
        let (number, other) = (Int.random(in: 0..<30, using: &random), Int.random(in: 0..<30, using: &random))
        let data = SearchedItems.json(&random)
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
                try await engine.write(SearchedItems.json(&random), key: key)
            }
            try await engine.createIndex(SearchedItems.index)
            let queue = try DatabaseQueue(path: engine.file.path)
            for step in 0..<24 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: _ = try await engine.core.updateSearches(of: engine.table)
                case 1: try await engine.write(SearchedItems.json(&random), key: SearchSamples.pick(keys, &random))
                case 2: try await engine.remove(key: SearchSamples.pick(keys, &random))
                case 3:
                    let operations = keys.shuffled(using: &random).prefix(5).map {
                        StorageOperation.write(key: $0, data: SearchedItems.json(&random))
                    }
                    _ = try await engine.apply(StorageBatch(Array(operations)))
                case 4 where Int.random(in: 0..<6, using: &random) == 0: try await engine.removeAllData()
                default: try changeInSQL(queue, &random)
                }
                if step % 4 == 3 {
                    #expect(try await engine.fetchIndexes() == [SearchedItems.index], "seed \(seed)")
                    try await SearchedItems.check(engine, &random, "seed \(seed), step \(step)")
                }
            }
            let isWhole = try await queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
            #expect(isWhole == "ok")
        }
    }
}
