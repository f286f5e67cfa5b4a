import BenchHarness
import Bodega
import Boutique
import Foundation

// The cost of a program's start. Both sides exclude the time to close.
extension Metrics {
    static let opening = [
        Metric("open.engine", baseline: "C API, opened and asked for a key", maximum: 2) { plan in
            try await openEngine(plan)
        },
        Metric("open.engine.new", baseline: "the same, creating the file", maximum: 2) { plan in
            try await createEngine(plan)
        },
        Metric("open.store.empty", baseline: "C API, opened and read", maximum: 2) { plan in
            try await openStore(plan, holding: 0)
        },
        Metric("open.store.10", baseline: "the same with JSONDecoder", maximum: 2) { plan in
            try await openStore(plan, holding: 10)
        },
    ]

    /// The number of times that a run opens.
    private static let times = 50

    private static func openEngine(_ plan: Plan) async throws -> Outcome {
        try await withPlace(plan, holding: 0) { folder in
            try await compare(
                items: times,
                runs: plan.runs,
                ours: { try await timeOfEngines(times) { _ in folder } },
                baseline: { try timeOfDatabases(times) { _ in folder } }
            )
        }
    }

    private static func createEngine(_ plan: Plan) async throws -> Outcome {
        try await compare(
            items: times,
            runs: plan.runs,
            ours: {
                try await plan.scratch.withFolder { folder in
                    try await timeOfEngines(times) { folder.appendingPathComponent("\($0)") }
                }
            },
            baseline: {
                try await plan.scratch.withFolder { folder in
                    let folders = (0..<times).map { folder.appendingPathComponent("\($0)") }
                    return try timeOfDatabases(times) { number in
                        try FileManager.default.createDirectory(at: folders[number], withIntermediateDirectories: true)
                        return folders[number]
                    }
                }
            }
        )
    }

    private static func timeOfEngines(_ count: Int, _ folder: @Sendable (Int) -> URL) async throws -> Duration {
        var total = Duration.zero
        for number in 0..<count {
            let place = FileManager.Directory(url: folder(number))
            let (time, (engine, found)) = try await timed {
                let engine = try SQLiteStorageEngine(opening: place)
                return (engine, try await engine.fetch(key: CacheKey("absent")))
            }
            try verify(found, equals: nil, "the absent item")
            try await engine.close()
            total += time
        }
        return total
    }

    private static func timeOfDatabases(_ count: Int, _ folder: (Int) throws -> URL) throws -> Duration {
        var total = Duration.zero
        for number in 0..<count {
            let (time, (found, database)) = try timed {
                let database = try CDatabase(folder(number).appendingPathComponent("data.sqlite3"))
                return (try CDatabase.Reader(database).read(key: "absent"), database)
            }
            try verify(found, equals: nil, "the absent item of the baseline")
            withExtendedLifetime(database) {}
            total += time
        }
        return total
    }

    @MainActor
    private static func openStore(_ plan: Plan, holding count: Int) async throws -> Outcome {
        let expected = People.make(0..<count)
        return try await withPlace(plan, holding: count) { folder in
            try await compare(
                items: times,
                runs: plan.runs,
                ours: {
                    var total = Duration.zero
                    for _ in 0..<times {
                        let (time, engine) = try await timeOfStore(in: folder, expected)
                        try await engine.close()
                        total += time
                    }
                    return total
                },
                baseline: {
                    var total = Duration.zero
                    for _ in 0..<times {
                        let (time, (people, database)) = try timed {
                            let database = try CDatabase(folder.appendingPathComponent("data.sqlite3"))
                            let decoder = JSONDecoder()
                            let people = try CDatabase.Reader(database).readAll().map {
                                try decoder.decode(Person.self, from: $0)
                            }
                            return (people, database)
                        }
                        try verify(people == expected, equals: true, "the people of the baseline")
                        withExtendedLifetime(database) {}
                        total += time
                    }
                    return total
                }
            )
        }
    }

    /// The time to open an engine and a store. The store is released before the engine is closed.
    @MainActor
    private static func timeOfStore(
        in folder: URL, _ expected: [Person]
    ) async throws -> (time: Duration, engine: SQLiteStorageEngine) {
        let (time, (engine, store)) = try await timed {
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            return (engine, try await Store<Person>(storage: engine, cacheIdentifier: \.id.uuidString))
        }
        try verify(store.items == expected, equals: true, "the people loaded")
        return (time, engine)
    }

    /// Calls a closure with the folder of a closed database that contains some people.
    @MainActor
    private static func withPlace(
        _ plan: Plan,
        holding count: Int,
        _ work: @escaping @MainActor (URL) async throws -> Outcome
    ) async throws -> Outcome {
        try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            try await engine.write(People.records(of: People.make(0..<count)))
            try await engine.close()
            return try await work(folder)
        }
    }
}
