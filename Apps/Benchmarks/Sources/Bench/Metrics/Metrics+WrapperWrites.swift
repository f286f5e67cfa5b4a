import BenchHarness
import Bodega
import Foundation
import Logging

extension Metrics {
    /// Writes through wrappers around the engine in memory, whose own cost is as small as it can be.
    static let wrapperWrites =
        writes("retrying", maxima: (3, 2)) { $0.retrying() }
        + writes("logged", maxima: (3, 2)) { base in
            base.logged(by: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        }
        + writes("prefixed", maxima: (3, 3)) { $0.prefixed("items") }
        + writes("expiring", maxima: (4, 4)) { $0.expiring(after: .seconds(86_400)) }
        + writes("limited", maxima: (20, 6)) { $0.limited(count: 10_000_000) }
        + writes("cached", maxima: (8, 5)) { $0.cached(bytes: nil) }
        + writes("mirrored", maxima: (20, 4)) { $0.mirrored(to: MemoryStorageEngine()) }

    private static func writes(
        _ name: String, maxima: (single: Double, batch: Double),
        _ wrap: @escaping @Sendable (MemoryStorageEngine) -> some StorageEngine
    ) -> [Metric] {
        let baseline = "the engine in memory alone"
        return [
            Metric("wrapper.\(name).write", baseline: baseline, maximum: maxima.single) { plan in
                try await compareWrites(plan, inBatches: false, wrap)
            },
            Metric("wrapper.\(name).write.batch", baseline: baseline, maximum: maxima.batch) { plan in
                try await compareWrites(plan, inBatches: true, wrap)
            },
        ]
    }

    /// Overwrites items through a wrapper and directly, one at a time or 500 at a time.
    private static func compareWrites(
        _ plan: Plan, inBatches: Bool, _ wrap: (MemoryStorageEngine) -> some StorageEngine
    ) async throws -> Outcome {
        let items = Items.make(plan.size(100_000))
        let (inner, base) = (MemoryStorageEngine(), MemoryStorageEngine())
        let wrapped = wrap(inner)
        try await wrapped.write(items)
        try await base.write(items)
        return try await compare(
            items: items.count,
            runs: plan.runs,
            ours: { try await timeOfWrites(of: items, inBatches: inBatches, wrapped) },
            baseline: { try await timeOfWrites(of: items, inBatches: inBatches, base) }
        )
    }

    private static func timeOfWrites(
        of items: [(key: CacheKey, data: Data)], inBatches: Bool, _ engine: some StorageEngine
    ) async throws -> Duration {
        let time = try await timed {
            guard inBatches else {
                for item in items { try await engine.write(item.data, key: item.key) }
                return
            }
            for start in stride(from: 0, to: items.count, by: 500) {
                try await engine.write(Array(items[start..<min(start + 500, items.count)]))
            }
        }.time
        try await verify(engine.fetchCount(), equals: items.count, "items written")
        return time
    }
}
