import BenchHarness
import Bodega
import Foundation

/// The metrics of searches by an index.
extension QueryMetrics {

    var searches: [Metric] {
        [
            Metric("query.search.common", baseline: "FTS5 in SQL", maximum: 2) { try await searching($0, word: 5) },
            Metric("query.search.rare", baseline: "FTS5 in SQL", maximum: 2) { try await searching($0, word: 300) },
            Metric("query.search.write", baseline: "ours with a plain index", maximum: 2) {
                try await writingSearched($0)
            },
        ]
    }

    private func searching(_ plan: Plan, word: Int) async throws -> Outcome {
        try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            let size = plan.size(count)
            for start in stride(from: 0, to: size, by: 100_000) {
                try await engine.write(SearchedNote.items(start..<min(start + 100_000, size)))
            }
            let storage = ObjectStorage<SearchedNote>(storage: engine)
            try await storage.createIndexes()
            let table = try SearchedTable(folder.appendingPathComponent("data.sqlite3"))
            let text = SearchedNote.word(word)
            let query = Query<SearchedNote>().searching(text)
            return try await compare(
                items: 20, runs: plan.runs * 3,
                ours: { try await timed { try await storage.fetch(query, limit: 20) }.0 },
                baseline: {
                    let (time, keys) = try timed { try table.keys(text) }
                    let found = try await storage.fetch(query, limit: 20).objectsAndKeys.map(\.key.rawValue)
                    try verify(found, equals: keys, "the best notes")
                    return time
                })
        }
    }

    /// The time of a batch of new items, until it is durable. The index for searches adds them later.
    private func writingSearched(_ plan: Plan) async throws -> Outcome {
        let items = try SearchedNote.items(0..<plan.size(100_000))
        func time(_ index: StorageIndex) async throws -> Duration {
            try await plan.scratch.withFolder { folder in
                let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                try await engine.createIndex(index)
                return try await timed { try await engine.write(items) }.0
            }
        }
        return try await compare(
            items: items.count, runs: plan.runs, ours: { try await time(.search(["title", "text"])) },
            baseline: { try await time(StorageIndex("title")) })
    }
}
