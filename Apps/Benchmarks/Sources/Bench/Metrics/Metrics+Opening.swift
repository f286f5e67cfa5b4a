import BenchHarness
import Bodega
import Boutique
import Foundation

// The cost of a program's start. Both sides exclude the time to close. Times are medians of single openings, which a
// short disturbance of the machine affects less than sums.
extension Metrics {
    static let opening = [
        Metric("open.engine", baseline: "C API, opened and asked for a key", maximum: 2.3) { plan in
            try await openEngine(plan)
        },
        Metric("open.engine.new", baseline: "the same, creating the file", maximum: 2) { plan in
            try await createEngine(plan)
        },
        Metric("open.store.empty", baseline: "C API, opened and read", maximum: 3) { plan in
            try await openStore(plan, holding: 0)
        },
        Metric("open.store.10", baseline: "the same with JSONDecoder", maximum: 2) { plan in
            try await openStore(plan, holding: 10)
        },
    ]

    /// The number of openings for each run of other metrics.
    private static let times = 50

    private static func openEngine(_ plan: Plan) async throws -> Outcome {
        try await withPlace(plan, holding: 0) { folder in
            try await compare(
                items: 1,
                runs: plan.runs * times,
                ours: { try await timeOfEngine(folder) },
                baseline: { try timeOfDatabase { folder } }
            )
        }
    }

    private static func createEngine(_ plan: Plan) async throws -> Outcome {
        try await compare(
            items: 1,
            runs: plan.runs * times / 5,
            ours: {
                try await plan.scratch.withFolder { folder in
                    try await timeOfEngine(folder.appendingPathComponent("new"))
                }
            },
            baseline: {
                try await plan.scratch.withFolder { folder in
                    let folder = folder.appendingPathComponent("new")
                    return try timeOfDatabase {
                        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                        return folder
                    }
                }
            }
        )
    }

    private static func timeOfEngine(_ folder: URL) async throws -> Duration {
        let (time, (engine, found)) = try await timed {
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            return (engine, try await engine.fetch(key: CacheKey("absent")))
        }
        try verify(found, equals: nil, "the absent item")
        try await engine.close()
        return time
    }

    private static func timeOfDatabase(in folder: () throws -> URL) throws -> Duration {
        let (time, (found, database)) = try timed {
            let database = try CDatabase(folder().appendingPathComponent("data.sqlite3"))
            return (try CDatabase.Reader(database).read(key: "absent"), database)
        }
        try verify(found, equals: nil, "the absent item of the baseline")
        withExtendedLifetime(database) {}
        return time
    }

    @MainActor
    private static func openStore(_ plan: Plan, holding count: Int) async throws -> Outcome {
        let expected = People.make(0..<count)
        return try await withPlace(plan, holding: count) { folder in
            try await compare(
                items: count,
                runs: plan.runs * times,
                ours: {
                    let (time, engine) = try await timeOfStore(in: folder, expected)
                    try await engine.close()
                    return time
                },
                baseline: {
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
                    return time
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
