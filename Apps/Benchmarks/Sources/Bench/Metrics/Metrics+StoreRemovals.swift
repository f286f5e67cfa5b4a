import BenchHarness
import Bodega
import BodegaTesting
import Boutique
import Foundation

extension Metrics {
    static let storeRemovals = [
        Metric("store.remove.one", baseline: "Array.remove(at:) + the engine alone", maximum: 2) { plan in
            try await removeOneByOne(plan, .full)
        },
        Metric("store.remove.one.relaxed", baseline: "the same without syncs", maximum: 2) { plan in
            try await removeOneByOne(plan, .relaxed)
        },
    ]

    /// Removes people at random positions. Each run removes others, the same on both sides.
    @MainActor
    private static func removeOneByOne(_ plan: Plan, _ durability: StorageDurability) async throws -> Outcome {
        let count = plan.size(100_000)
        let removals = Removals(count: plan.size(singles), outOf: count)
        return try await withStore(plan, holding: count, durability: durability) { filled in
            try await withEngine(plan, holding: count, durability: durability) { engine in
                var array = People.make(0..<count)
                var oursDone = 0
                var baselineDone = 0
                return try await compare(
                    items: removals.perRun,
                    runs: plan.runs,
                    ours: {
                        let people = removals.run(oursDone).map(\.person)
                        oursDone += 1
                        let time = try await timed {
                            for person in people { try await filled.store.remove(person) }
                        }.time
                        try await filled.verifyCount(count - oursDone * people.count)
                        return time
                    },
                    baseline: {
                        let run = removals.run(baselineDone)
                        baselineDone += 1
                        let time = try await timed {
                            for (position, person) in run {
                                array.remove(at: position)
                                try await engine.remove(key: People.key(of: person))
                            }
                        }.time
                        let left = count - baselineDone * run.count
                        try verify(array.count, equals: left, "people left in the array")
                        try await verify(engine.fetchCount(), equals: left, "items left in the engine alone")
                        try verify(
                            array.contains { $0.id == run[0].person.id }, equals: false, "a removed person is left")
                        return time
                    }
                )
            }
        }
    }
}

/// The removals of each run, with the positions at the time of removal.
private final class Removals {
    let perRun: Int
    private var left: [Int]
    private var runs: [[(position: Int, person: Person)]] = []
    private var random = SeededGenerator(seed: 1)

    init(count: Int, outOf all: Int) {
        perRun = count
        left = Array(0..<all)
    }

    /// The removals of a run.
    func run(_ number: Int) -> [(position: Int, person: Person)] {
        while runs.count <= number {
            runs.append(
                (0..<perRun).map { _ in
                    let position = Int.random(in: left.indices, using: &random)
                    return (position, Person(number: left.remove(at: position)))
                })
        }
        return runs[number]
    }
}
