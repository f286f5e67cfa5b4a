import BenchHarness
import Bodega
import BodegaTesting
import Foundation

extension Metrics {
    static let sqliteSingles = [
        Metric("sqlite.read.single", baseline: "C API prepared statement", maximum: 2.5) { plan in
            try await readSingle(plan)
        },
        Metric("sqlite.read.keys", baseline: "C API, prepared, one step per key", maximum: 1.6) { plan in
            try await readKeys(plan)
        },
    ]

    private static func readSingle(_ plan: Plan) async throws -> Outcome {
        try await withPreparedDatabase(plan, items: plan.size(100_000)) { engine, items in
            let wanted = sample(of: items)
            let sum = Checksum.ofList(wanted.map(\.data))
            let reader = try CDatabase.Reader(CDatabase(engine.file))
            return try await compare(
                items: wanted.count,
                runs: plan.runs,
                ours: {
                    let (time, values) = try await timed {
                        var values: [Data?] = []
                        values.reserveCapacity(wanted.count)
                        for item in wanted { values.append(try await engine.fetch(key: item.key)) }
                        return values
                    }
                    try verify(Checksum.ofList(values.compactMap { $0 }), equals: sum, "the checksum of what was read")
                    return time
                },
                baseline: {
                    let (time, values) = try timed {
                        var values: [Data?] = []
                        values.reserveCapacity(wanted.count)
                        for item in wanted { values.append(try reader.read(key: item.key.rawValue)) }
                        return values
                    }
                    try verify(Checksum.ofList(values.compactMap { $0 }), equals: sum, "the checksum of the baseline")
                    return time
                }
            )
        }
    }

    private static func readKeys(_ plan: Plan) async throws -> Outcome {
        try await withPreparedDatabase(plan, items: plan.size(100_000)) { engine, items in
            let wanted = sample(of: items)
            let keys = wanted.map(\.key)
            let sum = Checksum.ofList(wanted.map(\.data))
            let reader = try CDatabase.Reader(CDatabase(engine.file))
            return try await compare(
                items: keys.count,
                runs: plan.runs,
                ours: {
                    let (time, found) = try await timed { try await engine.fetch(keys: keys) }
                    try verify(found.map(\.key), equals: keys, "the keys read")
                    try verify(Checksum.ofList(found.map(\.data)), equals: sum, "the checksum of what was read")
                    return time
                },
                baseline: {
                    let (time, found) = try timed { try reader.read(keys: keys) }
                    try verify(Checksum.ofList(found.map(\.data)), equals: sum, "the checksum of the baseline")
                    return time
                }
            )
        }
    }

    /// A tenth of the items, in an order that is unrelated to their order in the file.
    private static func sample(of items: [(key: CacheKey, data: Data)]) -> [(key: CacheKey, data: Data)] {
        var random = SeededGenerator(seed: 1)
        return Array(items.shuffled(using: &random).prefix(max(1, items.count / 10)))
    }
}
