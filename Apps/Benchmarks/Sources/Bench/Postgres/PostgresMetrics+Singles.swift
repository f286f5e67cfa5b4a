#if Postgres
import BenchHarness
import Bodega
import BodegaPostgres
import BodegaTesting
import Foundation

extension PostgresMetrics {
    /// The number of concurrent readers.
    private static let readers = 8

    var singles: [Metric] {
        let baseline = "pgbench -M prepared, \(Self.readers) clients; 0.6 of its throughput is 1.67 of its time"
        return [
            Metric("postgres.read.single", baseline: baseline, maximum: 1 / 0.6) { plan in
                try await withServer(plan) { try await read(plan, on: $0) }
            }
        ]
    }

    private func read(_ plan: Plan, on server: BenchServer) async throws -> Outcome {
        // pgbench can only choose numbers as keys.
        let items = Items.make(plan.size(100_000)).enumerated().map { index, item in
            (key: CacheKey("\(10_000_000 + index)"), data: item.data)
        }
        let engine = try await PostgresStorageEngine(connecting: server.url, collection: "bench")
        try await engine.write(items)
        try server.psql("VACUUM ANALYZE emporium_items")
        let step = max(1, items.count / 1_024)
        let wanted = Array(stride(from: 0, to: items.count, by: step).prefix(1_024))
        let readsPerReader = plan.size(4_000)
        return try await plan.scratch.withFolder { folder in
            let script = folder.appendingPathComponent("script.sql")
            try Data(try pgbenchScript(wanted, step: step, on: server).utf8).write(to: script)
            return try await compare(
                items: readsPerReader * Self.readers,
                runs: plan.runs,
                ours: { try await timeOfReads(readsPerReader, of: wanted.map { items[$0] }, from: engine) },
                baseline: {
                    let rate = try server.transactionsPerSecond(
                        script: script, clients: Self.readers, transactionsPerClient: readsPerReader)
                    return .seconds(Double(readsPerReader * Self.readers) / rate)
                }
            )
        }
    }

    private func timeOfReads(
        _ count: Int,
        of wanted: [(key: CacheKey, data: Data)],
        from engine: PostgresStorageEngine
    ) async throws -> Duration {
        try await timed {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for reader in 0..<Self.readers {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(reader))
                        for _ in 0..<count {
                            let item = wanted[Int.random(in: wanted.indices, using: &random)]
                            // Comparing 400 bytes is fast relative to a round trip.
                            guard try await engine.fetch(key: item.key) == item.data else {
                                throw VerificationFailure("an item differs from the written one")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }.time
    }

    /// A script that reads a random item by its whole primary key, as the engine does.
    ///
    /// pgbench can't compute the shard of a key, so the script finds it with a tree of conditions, ten comparisons
    /// deep.
    private func pgbenchScript(_ wanted: [Int], step: Int, on server: BenchServer) throws -> String {
        let collection = try server.collectionNumber()
        let list = try server.psql(
            """
            SELECT convert_from(substring(key FROM 2), 'UTF8'), shard FROM emporium_items
            WHERE collection = \(collection)
            """)
        let shards = Dictionary(
            uniqueKeysWithValues: list.split(separator: "\n").map { line in
                let fields = line.split(separator: "|")
                return (String(fields[0]), String(fields[1]))
            }
        )
        func choice(_ range: Range<Int>) -> String {
            if range.count == 1 { return shards["\(10_000_000 + wanted[range.lowerBound])"] ?? "-1" }
            let middle = range.lowerBound + range.count / 2
            let (low, high) = (choice(range.lowerBound..<middle), choice(middle..<range.upperBound))
            return "case when :i < \(middle) then \(low) else \(high) end"
        }
        let answers = try server.psql(
            """
            SELECT count(*) FROM emporium_items
            WHERE collection = \(collection) AND key = '\\x00'::bytea || '10000000'
            """)
        try verify(answers, equals: "1\n", "rows under the first key as the baseline writes it")
        return """
            \\set i random(0, \(wanted.count - 1))
            \\set n 10000000 + :i * \(step)
            \\set s \(choice(0..<wanted.count))
            SELECT data FROM emporium_items WHERE shard = :s AND collection = \(collection) AND key = \
            '\\x00'::bytea || :n;

            """
    }
}
#endif
