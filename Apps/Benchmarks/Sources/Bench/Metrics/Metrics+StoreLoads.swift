import BenchHarness
import Bodega
import Boutique
import Foundation

extension Metrics {
    static let storeLoads = [
        Metric("store.load", baseline: "the engine alone + JSONDecoder alone", maximum: 0.42) { plan in
            try await load(plan)
        },
        // The time in which the main actor can't run other work, relative to the time of a load; see `MainActorProbe`.
        Metric("store.load.blocking", baseline: "the whole time of the load", maximum: 0.05) { plan in
            try await blockingOfLoad(plan)
        },
    ]

    @MainActor
    private static func load(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(100_000)
        let expected = People.make(0..<count)
        return try await withEngine(plan, holding: count) { engine in
            let encoded = try await engine.fetchAllData()
            let decoder = JSONDecoder()
            let medians = try await interleavedMedians(
                runs: plan.runs,
                [
                    { try await timeOfLoad(engine, expected: expected) },
                    {
                        let (time, found) = try await timed { try await engine.fetchAll() }
                        try verify(found.count, equals: count, "the records read")
                        return time
                    },
                    {
                        let (time, found) = try timed { try encoded.map { try decoder.decode(Person.self, from: $0) } }
                        try verify(found == expected, equals: true, "the people decoded")
                        return time
                    },
                ]
            )
            return Outcome(items: count, ours: medians[0], baseline: medians[1] + medians[2])
        }
    }

    @MainActor
    private static func blockingOfLoad(_ plan: Plan) async throws -> Outcome {
        try await verifyProbe()
        let count = plan.size(100_000)
        let expected = People.make(0..<count)
        return try await withEngine(plan, holding: count) { engine in
            try await compare(
                items: count,
                runs: plan.runs,
                ours: {
                    let (time, store) = try await MainActorProbe.blockedTime {
                        try await Store<Person>(storage: engine, cacheIdentifier: \.id.uuidString)
                    }
                    try verify(store.items == expected, equals: true, "the people loaded")
                    return time
                },
                baseline: { try await timeOfLoad(engine, expected: expected) }
            )
        }
    }

    @MainActor
    private static func timeOfLoad(_ engine: SQLiteStorageEngine, expected: [Person]) async throws -> Duration {
        let (time, store) = try await timed {
            try await Store<Person>(storage: engine, cacheIdentifier: \.id.uuidString)
        }
        try verify(store.items == expected, equals: true, "the people loaded")
        return time
    }

    /// Verifies that the probe detects a blocked main actor.
    @MainActor
    static func verifyProbe() async throws {
        let seen = try await MainActorProbe.blockedTime { blockThread(for: 0.02) }.time
        if seen < .milliseconds(15) {
            throw VerificationFailure("the main actor was blocked for 20 ms, but the probe measured \(seen)")
        }
    }

    private static func blockThread(for seconds: TimeInterval) {
        Thread.sleep(forTimeInterval: seconds)
    }
}
