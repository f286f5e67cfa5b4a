import BenchHarness
import Bodega
import Foundation

extension Metrics {
    static let objects = [
        Metric("object.store.batch", baseline: "JSONEncoder alone + the engine alone", maximum: 1.1) { plan in
            try await storeObjects(plan)
        },
        Metric("object.read.all", baseline: "the engine alone + JSONDecoder alone", maximum: 0.3) { plan in
            try await readObjects(plan)
        },
    ]

    private static func storeObjects(_ plan: Plan) async throws -> Outcome {
        let people = people(plan.size(100_000))
        let encoder = JSONEncoder()
        let encoded = try people.map { (key: $0.key, data: try encoder.encode($0.object)) }
        let medians = try await interleavedMedians(
            runs: plan.runs,
            [
                {
                    try await plan.scratch.withFolder { folder in
                        let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                        let storage = ObjectStorage<Person>(storage: engine)
                        let time = try await timed { try await storage.store(people) }.time
                        try await verify(engine.fetchCount(), equals: people.count, "objects stored")
                        let last = people[people.count - 1]
                        try await verify(storage.fetchObject(forKey: last.key), equals: last.object, "the last object")
                        return time
                    }
                },
                {
                    let (time, values) = try timed { try people.map { try encoder.encode($0.object) } }
                    try verify(values.count, equals: people.count, "objects encoded")
                    return time
                },
                { try await timeOfBatchWrite(encoded, plan.scratch) },
            ]
        )
        return Outcome(items: people.count, ours: medians[0], baseline: medians[1] + medians[2])
    }

    private static func readObjects(_ plan: Plan) async throws -> Outcome {
        let people = people(plan.size(100_000))
        let expected = people.map(\.object)
        return try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            let storage = ObjectStorage<Person>(storage: engine)
            try await storage.store(people)
            let encoded = try await engine.fetchAllData()
            let decoder = JSONDecoder()
            let medians = try await interleavedMedians(
                runs: plan.runs,
                [
                    {
                        let (time, found) = try await timed { try await storage.fetchAllObjects() }
                        try verify(found.objectsAndKeys.map(\.object) == expected, equals: true, "the objects read")
                        return time
                    },
                    {
                        let (time, found) = try await timed { try await engine.fetchAll() }
                        try verify(found.count, equals: expected.count, "the items read")
                        return time
                    },
                    {
                        let (time, found) = try timed { try encoded.map { try decoder.decode(Person.self, from: $0) } }
                        try verify(found == expected, equals: true, "the objects decoded")
                        return time
                    },
                ]
            )
            return Outcome(items: people.count, ours: medians[0], baseline: medians[1] + medians[2])
        }
    }

    private static func people(_ count: Int) -> [(key: CacheKey, object: Person)] {
        (0..<count).map { number in
            let person = Person(number: number)
            return (CacheKey(person.id.uuidString), person)
        }
    }
}
