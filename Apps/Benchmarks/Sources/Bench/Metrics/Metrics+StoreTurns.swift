import BenchHarness
import Bodega
import BodegaTesting
import Boutique
import Foundation

// The longest turn of the main actor while it shows a large change; see `MainActorProbe`.
extension Metrics {
    static let storeTurns = [
        Metric("store.foreign.turn", baseline: "16 ms, a frame", maximum: 1) { try await foreignBatch($0) },
        Metric("window.reversal.turn", baseline: "16 ms, a frame", maximum: 1) { try await reversal($0) },
    ]

    private static let frame = Duration.milliseconds(16)

    /// A batch of another origin that changes a quarter of the items.
    @MainActor
    private static func foreignBatch(_ plan: Plan) async throws -> Outcome {
        try await verifyProbe()
        let (count, total) = (plan.size(50_000), plan.size(200_000))
        return try await withStore(plan, holding: total, durability: .relaxed) { filled in
            var expected = filled.store.items
            let reader = Task { for await _ in filled.store.events {} }
            defer { reader.cancel() }
            var times: [Duration] = []
            for run in 0..<plan.runs {
                let places = (1...count).map { $0 * total / count - 1 }
                for place in places { expected[place].age = 100 + run }
                let operations = try People.records(of: places.map { expected[$0] })
                    .map { StorageOperation.write(key: $0.key, data: $0.data) }
                times.append(
                    try await MainActorProbe.longestTurn {
                        try await filled.engine.apply(operations)
                        while filled.store.items.last != expected.last {
                            try await Task.sleep(for: .milliseconds(1))
                        }
                    })
                try verify(filled.store.items == expected, equals: true, "the people after a foreign batch")
            }
            return Outcome(items: count, ours: times.percentile(0.5), baseline: frame)
        }
    }

    /// A batch that reverses the order of a window.
    @MainActor
    private static func reversal(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(8_000)
        let storage = ObjectStorage<Ranked>(storage: MemoryStorageEngine())
        var items = (0..<count).map { Ranked(id: $0, rank: $0) }
        try await storage.store(items.map { (CacheKey("\($0.id)"), $0) })
        let window = LiveQuery(Query<Ranked>(sortedBy: SortDescriptor(\.rank)), in: storage, limit: count)
        try await window.itemsHaveLoaded()
        let reader = Task { for await _ in window.events {} }
        defer { reader.cancel() }
        var times: [Duration] = []
        for _ in 0..<plan.runs {
            items = items.map { Ranked(id: $0.id, rank: -$0.rank) }
            let records = items.map { (CacheKey("\($0.id)"), $0) }
            let expected = items.sorted { $0.rank < $1.rank }
            times.append(
                try await MainActorProbe.longestTurn {
                    try await storage.store(records)
                    while window.items.first != expected.first { try await Task.sleep(for: .milliseconds(1)) }
                })
            try verify(window.items == expected, equals: true, "the items of the reversed window")
        }
        return Outcome(items: count, ours: times.percentile(0.5), baseline: frame)
    }

    private struct Ranked: Codable, Equatable, Queryable, Sendable {
        var id: Int
        var rank: Int
        static let indexes = [Index("rank", \Ranked.rank)]
    }
}
