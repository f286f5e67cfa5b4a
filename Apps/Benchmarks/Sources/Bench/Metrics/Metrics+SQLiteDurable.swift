import BenchHarness
import Bodega
import Foundation

extension Metrics {
    static let sqliteDurable = [
        Metric("sqlite.write.single.durable", baseline: "C API, WAL, synchronous FULL", maximum: 2.2) { plan in
            try await durableWrites(plan, items: plan.size(500)) { engine, items in
                for item in items { try await engine.write(item.data, key: item.key) }
            }
        },
        Metric(
            "sqlite.write.concurrent.durable",
            baseline: "as many sequential C API commits",
            maximum: 0.2
        ) { plan in
            let perWriter = plan.isQuick ? 1 : 16
            return try await durableWrites(plan, items: writers * perWriter) { engine, items in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 0..<writers {
                        let part = items[writer * perWriter..<(writer + 1) * perWriter]
                        group.addTask {
                            for item in part { try await engine.write(item.data, key: item.key) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        },
    ]

    private static let writers = 64

    /// Compares a way to write items, each of them durable when its call returns, with the same number of commits
    /// through the C API.
    ///
    /// Both databases are kept for all runs, and each run writes new items, so both grow and are checkpointed equally.
    private static func durableWrites(
        _ plan: Plan,
        items count: Int,
        ours write: @escaping (SQLiteStorageEngine, [(key: CacheKey, data: Data)]) async throws -> Void
    ) async throws -> Outcome {
        try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder), databaseFilename: "ours")
            let database = try CDatabase(folder.appendingPathComponent("baseline.sqlite3"))
            let writer = try CDatabase.Writer(database)
            var (ourNumber, baselineNumber) = (0, 0)
            return try await compare(
                items: count,
                runs: plan.runs,
                ours: {
                    let items = Items.make(count, startingAt: ourNumber)
                    ourNumber += count
                    let time = try await timed { try await write(engine, items) }.time
                    try await verify(engine.fetchCount(), equals: ourNumber, "items written")
                    return time
                },
                baseline: {
                    let items = Items.make(count, startingAt: baselineNumber)
                    baselineNumber += count
                    let time = try timed {
                        for item in items { try writer.write(item.data, key: item.key.rawValue) }
                    }.time
                    try verify(database.count(), equals: baselineNumber, "items of the baseline")
                    return time
                }
            )
        }
    }
}
