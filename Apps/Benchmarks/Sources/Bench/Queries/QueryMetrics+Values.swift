import BenchHarness
import Bodega
import Foundation

/// The metric of distinct values.
extension QueryMetrics {
    var distinctValues: [Metric] {
        [Metric("query.values", baseline: "ours without an index", maximum: 0.25) { try await values($0) }]
    }

    private func values(_ plan: Plan) async throws -> Outcome {
        let items = (0..<plan.size(min(count, 100_000))).map {
            (CacheKey("\($0)"), Ranked(rank: $0 % 20, text: "\($0)"))
        }
        return try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            let storage = ObjectStorage<Ranked>(storage: engine)
            try await storage.store(items)
            try await storage.createIndexes()
            return try await compare(
                items: items.count, runs: plan.runs,
                ours: {
                    let (time, values) = try await timed { try await storage.values(of: \.rank) }
                    try verify(values.map(\.count).reduce(0, +), equals: items.count, "the number of items")
                    return time
                },
                baseline: { try await timed { try await storage.count(by: \.rank) }.0 })
        }
    }
}

/// An item with one of a few values.
private struct Ranked: Queryable, Sendable {
    var rank: Int
    var text: String

    static let indexes = [Index("rank", \Ranked.rank)]
}
