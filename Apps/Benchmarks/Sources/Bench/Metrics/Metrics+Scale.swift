import BenchHarness
import Bodega
import Foundation

// The cost per item at a million items relative to a hundred thousand: the baseline is ten times the smaller work.
extension Metrics {
    static let scale = [
        Metric("scale.sqlite.write.batch", baseline: "10 × ours at a tenth of the items", maximum: 1.5) { plan in
            try await scaleOfWrite(plan, order: .ascending)
        },
        Metric("scale.sqlite.write.batch.uuid", baseline: "the same, keys in random order", maximum: 3.5) { plan in
            try await scaleOfWrite(plan, order: .random)
        },
        Metric("scale.sqlite.read.all", baseline: "10 × ours at a tenth of the items", maximum: 1.5) { plan in
            try await scaleOfReadAll(plan)
        },
    ]

    /// A million items take long enough to be measured well in a few runs, or in one of several measurements.
    private static func runs(_ plan: Plan) -> Int { plan.repetitions > 1 ? 1 : min(plan.runs, 3) }

    private static func scaleOfWrite(_ plan: Plan, order: Items.Order) async throws -> Outcome {
        let many = Items.make(plan.size(1_000_000), order: order)
        let few = Array(many.prefix(many.count / 10))
        return try await compare(
            items: many.count,
            runs: runs(plan),
            ours: { try await timeOfBatchWrite(many, plan.scratch) },
            baseline: { try await timeOfBatchWrite(few, plan.scratch) * 10 }
        )
    }

    private static func scaleOfReadAll(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(1_000_000)
        return try await withPreparedDatabase(plan, items: count) { large, many in
            let sumOfMany = Checksum.ofList(many.map(\.data))
            return try await withPreparedDatabase(plan, items: count / 10) { small, few in
                let sumOfFew = Checksum.ofList(few.map(\.data))
                return try await compare(
                    items: count,
                    runs: runs(plan),
                    ours: { try await timeOfReadAll(large, count: many.count, sum: sumOfMany) },
                    baseline: { try await timeOfReadAll(small, count: few.count, sum: sumOfFew) * 10 }
                )
            }
        }
    }
}
