import BenchHarness
import Boutique
import Foundation

// An operation at a million items relative to the same operation at a thousand, without syncs, whose cost would hide
// the rest.
extension Metrics {
    static let storeScale = [
        Metric("store.insert.one.scale", baseline: "ours at a thousandth of the items", maximum: 1.5) { plan in
            try await insertIntoLargeAndSmall(plan, large: plan.size(1_000_000), small: plan.size(1_000), .relaxed)
        },
        Metric("store.update.one.scale", baseline: "ours at a thousandth of the items", maximum: 1.5) { plan in
            try await updateInLargeAndSmall(plan)
        },
    ]

    @MainActor
    private static func updateInLargeAndSmall(_ plan: Plan) async throws -> Outcome {
        let (large, small) = (plan.size(1_000_000), plan.size(1_000))
        let count = plan.size(singles)
        return try await withStore(plan, holding: large, durability: .relaxed) { largeStore in
            try await withStore(plan, holding: small, durability: .relaxed) { smallStore in
                let many = ids(count, of: large)
                let few = ids(count, of: small)
                return try await compare(
                    items: count,
                    runs: plan.runs,
                    ours: { try await largeStore.timeOfUpdates(many) },
                    baseline: { try await smallStore.timeOfUpdates(few) }
                )
            }
        }
    }

    /// The identifiers of some people, spread evenly over the first people.
    private static func ids(_ count: Int, of people: Int) -> [String] {
        (0..<count).map { Person(number: $0 * people / count).id.uuidString }
    }
}
