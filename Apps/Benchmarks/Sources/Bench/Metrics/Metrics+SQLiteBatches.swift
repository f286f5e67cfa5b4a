import BenchHarness
import Bodega
import Foundation

extension Metrics {
    static let sqliteBatches = [
        Metric("sqlite.write.batch", baseline: "C API, prepared, one transaction", maximum: 1.3) { plan in
            try await writeBatch(plan, order: .ascending)
        },
        Metric("sqlite.write.batch.uuid", baseline: "the same, keys in random order", maximum: 1.6) { plan in
            try await writeBatch(plan, order: .random)
        },
        Metric("sqlite.read.all", baseline: "C API loop building [Data]", maximum: 1.4) { plan in
            try await readAll(plan)
        },
    ]

    private static func writeBatch(_ plan: Plan, order: Items.Order) async throws -> Outcome {
        let items = Items.make(plan.size(100_000), order: order)
        return try await compare(
            items: items.count,
            runs: plan.runs,
            ours: { try await timeOfBatchWrite(items, plan.scratch) },
            baseline: {
                try await plan.scratch.withFolder { folder in
                    let database = try CDatabase(folder.appendingPathComponent("data.sqlite3"))
                    let writer = try CDatabase.Writer(database)
                    let time = try timed { try writer.write(items) }.time
                    try verify(database.count(), equals: items.count, "items of the baseline")
                    return time
                }
            }
        )
    }

    /// The time in which the engine writes items into an empty database in one call.
    static func timeOfBatchWrite(_ items: [(key: CacheKey, data: Data)], _ scratch: Scratch) async throws -> Duration {
        try await scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            let time = try await timed { try await engine.write(items) }.time
            try await verify(engine.fetchCount(), equals: items.count, "items written")
            try await verify(engine.fetch(key: items[0].key), equals: items[0].data, "the first item written")
            return time
        }
    }

    private static func readAll(_ plan: Plan) async throws -> Outcome {
        try await withPreparedDatabase(plan, items: plan.size(100_000)) { engine, items in
            let sum = Checksum.ofList(items.map(\.data))
            let reader = try CDatabase.Reader(CDatabase(engine.file))
            return try await compare(
                items: items.count,
                runs: plan.runs,
                ours: { try await timeOfReadAll(engine, count: items.count, sum: sum) },
                baseline: {
                    let (time, values) = try timed { try reader.readAll() }
                    try verify(Checksum.ofList(values), equals: sum, "the checksum of the baseline")
                    return time
                }
            )
        }
    }

    /// The time in which the engine reads all items; count and checksum must be the given ones.
    static func timeOfReadAll(_ engine: SQLiteStorageEngine, count: Int, sum: UInt64) async throws -> Duration {
        let (time, values) = try await timed { try await engine.fetchAllData() }
        try verify(values.count, equals: count, "items read")
        try verify(Checksum.ofList(values), equals: sum, "the checksum of what was read")
        return time
    }

    /// Calls a closure with an engine whose database contains items, and with these items.
    static func withPreparedDatabase<Result>(
        _ plan: Plan,
        items count: Int,
        _ work: (SQLiteStorageEngine, [(key: CacheKey, data: Data)]) async throws -> Result
    ) async throws -> Result {
        let items = Items.make(count)
        return try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            try await engine.write(items)
            return try await work(engine, items)
        }
    }
}
