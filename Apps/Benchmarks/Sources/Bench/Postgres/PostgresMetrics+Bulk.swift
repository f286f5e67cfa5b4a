#if Postgres
import BenchHarness
import Bodega
import BodegaPostgres
import Foundation

extension PostgresMetrics {
    var bulk: [Metric] {
        [
            Metric("postgres.write.bulk", baseline: "psql, COPY of the same rows into the table", maximum: 2) { plan in
                try await withServer(plan) { try await write(plan, on: $0) }
            },
            Metric("postgres.read.bulk", baseline: "psql, COPY of keys and data to /dev/null", maximum: 2) { plan in
                try await withServer(plan) { try await read(plan, on: $0) }
            },
        ]
    }

    private func write(_ plan: Plan, on server: BenchServer) async throws -> Outcome {
        let items = Items.make(plan.size(100_000))
        let engine = try await PostgresStorageEngine(connecting: server.url, collection: "bench")
        return try await plan.scratch.withFolder { folder in
            let rows = folder.appendingPathComponent("rows").path
            try await engine.write(items)
            try server.psql("\\copy (SELECT * FROM emporium_items) TO '\(rows)' (FORMAT binary)")
            return try await compare(
                items: items.count,
                runs: plan.runs,
                ours: {
                    try empty(server)
                    let time = try await timed { try await engine.write(items) }.time
                    try await verify(engine.fetchCount(), equals: items.count, "items written")
                    try await verify(engine.fetch(key: items[0].key), equals: items[0].data, "the first item written")
                    return time
                },
                baseline: {
                    try empty(server)
                    let time = try server.timeOfPsql("\\copy emporium_items FROM '\(rows)' (FORMAT binary)")
                    try await verify(engine.fetchCount(), equals: items.count, "items of the baseline")
                    return time
                }
            )
        }
    }

    /// Both sides begin with empty tables and without pending writes.
    private func empty(_ server: BenchServer) throws {
        try server.psql("TRUNCATE emporium_items, emporium_changes; CHECKPOINT;")
    }

    private func read(_ plan: Plan, on server: BenchServer) async throws -> Outcome {
        let items = Items.make(plan.size(100_000))
        let sum = Checksum.ofList(items.map(\.data))
        let engine = try await PostgresStorageEngine(connecting: server.url, collection: "bench")
        try await engine.write(items)
        try server.psql("VACUUM ANALYZE emporium_items")
        let rows = "FROM emporium_items WHERE collection = \(try server.collectionNumber())"
        let command = "\\copy (SELECT key, data \(rows)) TO '/dev/null' (FORMAT binary)"
        try verify(
            server.psql("SELECT count(*) \(rows)"), equals: "\(items.count)\n", "items that the baseline copies")
        return try await compare(
            items: items.count,
            runs: plan.runs,
            ours: {
                let (time, found) = try await timed { try await engine.fetchAll() }
                try verify(found.count, equals: items.count, "items read")
                try verify(Checksum.ofList(found.map(\.data)), equals: sum, "the checksum of what was read")
                return time
            },
            baseline: { try server.timeOfPsql(command) }
        )
    }
}
#endif
