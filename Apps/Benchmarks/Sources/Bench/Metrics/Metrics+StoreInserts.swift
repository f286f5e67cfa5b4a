import BenchHarness
import Bodega
import Boutique
import Foundation

extension Metrics {
    static let storeInserts = [
        Metric("store.insert.one", baseline: "ours at a hundredth of the items", maximum: 1.5) { plan in
            try await insertIntoLargeAndSmall(plan, large: plan.size(100_000), small: plan.size(1_000), .full)
        },
        Metric("store.insert.one.large", baseline: "the engine alone, relaxed, as many items", maximum: 2.8) { plan in
            try await insertOne(plan, into: plan.size(300_000), .relaxed)
        },
        Metric("store.insert.one.1000", baseline: "the engine alone, as many items", maximum: 2) { plan in
            try await insertOne(plan, into: plan.size(1_000), .full)
        },
        Metric("store.insert.one.10000", baseline: "the engine alone, as many items", maximum: 2) { plan in
            try await insertOne(plan, into: plan.size(10_000), .full)
        },
        Metric("store.insert.one.100000", baseline: "the engine alone, as many items", maximum: 2) { plan in
            try await insertOne(plan, into: plan.size(100_000), .full)
        },
        Metric("store.insert.concurrent", baseline: "one batch of as many", maximum: 4) { plan in
            try await insertConcurrently(plan)
        },
        Metric("store.insert.batch", baseline: "JSONEncoder alone + the engine alone", maximum: 0.8) { plan in
            try await insertBatch(plan)
        },
    ]

    @MainActor
    static func insertIntoLargeAndSmall(
        _ plan: Plan,
        large: Int,
        small: Int,
        _ durability: StorageDurability
    ) async throws -> Outcome {
        let new = People.make(large..<large + plan.size(singles))
        return try await withStore(plan, holding: large, durability: durability) { largeStore in
            try await withStore(plan, holding: small, durability: durability) { smallStore in
                try await compare(
                    items: new.count,
                    runs: plan.runs,
                    ours: { try await largeStore.timeOfInserts(new) },
                    baseline: { try await smallStore.timeOfInserts(new) }
                )
            }
        }
    }

    @MainActor
    private static func insertOne(
        _ plan: Plan,
        into count: Int,
        _ durability: StorageDurability
    ) async throws -> Outcome {
        let new = People.make(count..<count + plan.size(singles))
        let records = try People.records(of: new)
        return try await withStore(plan, holding: count, durability: durability) { store in
            try await withEngine(plan, holding: count, durability: durability) { engine in
                try await compare(
                    items: new.count,
                    runs: plan.runs,
                    ours: { try await store.timeOfInserts(new) },
                    baseline: {
                        let time = try await timed {
                            for record in records { try await engine.write(record.data, key: record.key) }
                        }.time
                        try await verify(engine.fetchCount(), equals: count + new.count, "items of the engine alone")
                        try await engine.apply(records.map { .remove(key: $0.key) })
                        return time
                    }
                )
            }
        }
    }

    @MainActor
    private static func insertConcurrently(_ plan: Plan) async throws -> Outcome {
        let people = People.make(0..<plan.size(1_000))
        return try await withStore(plan, holding: 0) { ours in
            try await withStore(plan, holding: 0) { baseline in
                try await compare(
                    items: people.count,
                    runs: plan.runs,
                    ours: {
                        let store = ours.store
                        let time = try await timed {
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for person in people { group.addTask { try await store.insert(person) } }
                                try await group.waitForAll()
                            }
                        }.time
                        try await ours.verifyCount(people.count)
                        try await store.removeAll()
                        return time
                    },
                    baseline: {
                        let time = try await timed { try await baseline.store.insert(people) }.time
                        try await baseline.verifyCount(people.count)
                        try await baseline.store.removeAll()
                        return time
                    }
                )
            }
        }
    }

    @MainActor
    private static func insertBatch(_ plan: Plan) async throws -> Outcome {
        let people = People.make(0..<plan.size(100_000))
        let records = try People.records(of: people)
        let medians = try await interleavedMedians(
            runs: plan.runs,
            [
                {
                    try await withStore(plan, holding: 0) { filled in
                        let time = try await timed { try await filled.store.insert(people) }.time
                        try await filled.verifyCount(people.count)
                        try verify(filled.store.items == people, equals: true, "the people in the store")
                        return time
                    }
                },
                {
                    let encoder = JSONEncoder()
                    let (time, values) = try timed { try people.map { try encoder.encode($0) } }
                    try verify(values.count, equals: people.count, "people encoded")
                    return time
                },
                { try await timeOfBatchWrite(records, plan.scratch) },
            ]
        )
        return Outcome(items: people.count, ours: medians[0], baseline: medians[1] + medians[2])
    }
}
