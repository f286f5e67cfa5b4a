import BenchHarness
import Boutique
import BodegaTesting
import Foundation

extension Metrics {
    static let storeLookups = [
        Metric("store.lookup.id", baseline: "Dictionary<String, Person>", maximum: 4) { plan in
            try await lookUp(plan)
        }
    ]

    @MainActor
    private static func lookUp(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(200_000)
        return try await withStore(plan, holding: count, durability: .relaxed) { filled in
            let store = filled.store
            let dictionary = Dictionary(uniqueKeysWithValues: store.items.map { ($0.id.uuidString, $0) })
            var random = SeededGenerator(seed: 1)
            let numbers = (0..<plan.size(100_000)).map { _ in Int.random(in: 0..<count, using: &random) }
            let sum = numbers.reduce(0) { $0 + store.items[$1].age }
            // Created separately, so that equal strings have different storage.
            let ids = numbers.map { store.items[$0].id.uuidString }
            return try await compare(
                items: ids.count,
                runs: plan.runs,
                ours: {
                    let (time, found) = timed { ids.reduce(0) { $0 + (store[$1]?.age ?? 0) } }
                    try verify(found, equals: sum, "the sum of the ages found")
                    return time
                },
                baseline: {
                    let (time, found) = timed { ids.reduce(0) { $0 + (person($1, in: dictionary)?.age ?? 0) } }
                    try verify(found, equals: sum, "the sum of the ages of the baseline")
                    return time
                }
            )
        }
    }

    /// A lookup that returns the whole person, as a store's does. If it were inlined, it would only read the age.
    @inline(never)
    private static func person(_ id: String, in dictionary: [String: Person]) -> Person? {
        dictionary[id]
    }
}
