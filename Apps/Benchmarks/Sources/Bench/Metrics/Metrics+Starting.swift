import BenchHarness
import Bodega
import Boutique
import Foundation

// A program's start until its first result, compared with what Bodega 2 and Boutique 2 do with the same items. Both
// sides exclude the time to close. Times are medians of single starts.
extension Metrics {
    static let starting = [
        Metric("start.engine", baseline: "as Bodega 2, opened and asked for a key", maximum: nil) { plan in
            try await starts(plan, holding: 10, reading)
        },
        Metric("start.engine.new", baseline: "the same, a new file and its first write", maximum: 1.4) { plan in
            try await starts(plan, holding: nil, writing)
        },
        Metric("start.store.empty", baseline: "as Boutique 2, an empty store", maximum: nil) { plan in
            try await starts(plan, holding: 0, loading(0))
        },
        Metric("start.store.10", baseline: "as Boutique 2, ten items", maximum: nil) { plan in
            try await starts(plan, holding: 10, loading(10))
        },
        Metric("start.store.first", baseline: "as Boutique 2, the first store on a file", maximum: nil) { plan in
            try await starts(plan, holding: 10, isFirst: true, loading(10))
        },
        Metric("start.store.new", baseline: "as Boutique 2, a new file and an insertion", maximum: 2.8) { plan in
            try await starts(plan, holding: nil, inserting)
        },
    ]

    /// What a program does at its start. Each side returns its time, after the file is closed.
    private struct Start: Sendable {
        let ours: @MainActor @Sendable (URL) async throws -> Duration
        let baseline: @MainActor @Sendable (URL) async throws -> Duration
    }

    @MainActor
    private static func starts(
        _ plan: Plan, holding count: Int?, isFirst: Bool = false, _ start: Start
    ) async throws -> Outcome {
        let times = plan.isQuick ? 3 : plan.runs * (count == nil ? 10 : 50)
        return try await plan.scratch.withFolder { folder in
            let (ours, theirs) = (folder.appendingPathComponent("ours"), folder.appendingPathComponent("theirs"))
            let people = try People.records(of: People.make(0..<(count ?? 0)))
            func prepare(_ number: Int) async throws {
                guard count != nil else { return }
                let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: at(ours, number)))
                try await engine.write(people)
                // As a store that has changed something leaves the file.
                if !isFirst { _ = try await engine.fetchCursor() }
                try await engine.close()
                let database = try ReferenceDatabase(in: at(theirs, number))
                for (key, data) in people { try await database.write(data, key: key.rawValue) }
            }
            func at(_ folder: URL, _ number: Int) -> URL { folder.appendingPathComponent("\(number)") }
            let isNew = count == nil || isFirst
            // With the warm-up.
            for number in 0...(isFirst ? times : 0) { try await prepare(number) }
            var (next, nextTheirs) = (0, 0)
            let medians = try await interleavedMedians(
                runs: times,
                [
                    {
                        defer { if isNew { next += 1 } }
                        return try await start.ours(at(ours, next))
                    },
                    {
                        defer { if isNew { nextTheirs += 1 } }
                        return try await start.baseline(at(theirs, nextTheirs))
                    },
                ]
            )
            return Outcome(items: times, ours: medians[0], baseline: medians[1])
        }
    }

    private static var reading: Start {
        Start { folder in
            let (time, (engine, found)) = try await timed {
                let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                return (engine, try await engine.fetch(key: CacheKey("absent")))
            }
            try verify(found, equals: nil, "the absent item")
            try await engine.close()
            return time
        } baseline: { folder in
            let (time, (found, database)) = try await timed {
                let database = try ReferenceDatabase(in: folder)
                return (try await database.read(key: "absent"), database)
            }
            try verify(found, equals: nil, "the absent item of the baseline")
            withExtendedLifetime(database) {}
            return time
        }
    }

    private static var writing: Start {
        let data = Data(repeating: 7, count: 400)
        return Start { folder in
            let (time, engine) = try await timed {
                let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                try await engine.write(data, key: CacheKey("new"))
                return engine
            }
            try await verify(engine.fetch(key: CacheKey("new")), equals: data, "the written item")
            try await engine.close()
            return time
        } baseline: { folder in
            let (time, database) = try await timed {
                let database = try ReferenceDatabase(in: folder)
                try await database.write(data, key: "new")
                return database
            }
            try await verify(database.read(key: "new"), equals: data, "the written item of the baseline")
            return time
        }
    }

    private static func loading(_ count: Int) -> Start {
        let expected = People.make(0..<count)
        return Start { folder in
            let (time, engine) = try await timeOfStore(in: folder, expected)
            try await engine.close()
            return time
        } baseline: { folder in
            let (time, (people, database)) = try await timed { try await peopleOfBaseline(in: folder) }
            try verify(Set(people) == Set(expected), equals: true, "the people of the baseline")
            withExtendedLifetime(database) {}
            return time
        }
    }

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

    @MainActor
    private static func peopleOfBaseline(in folder: URL) async throws -> ([Person], ReferenceDatabase) {
        let database = try ReferenceDatabase(in: folder)
        let decoder = JSONDecoder()
        return (try await database.readAll().map { try decoder.decode(Person.self, from: $0) }, database)
    }

    private static var inserting: Start {
        let person = Person(number: 1)
        return Start { folder in
            let (time, engine) = try await timeOfInsertion(of: person, in: folder)
            try await verify(engine.fetchCount(), equals: 1, "the inserted records")
            try await engine.close()
            return time
        } baseline: { folder in
            let (time, database) = try await timed {
                let (_, database) = try await peopleOfBaseline(in: folder)
                try await database.write(try JSONEncoder().encode(person), key: person.id.uuidString)
                return database
            }
            try await verify(database.readAll().count, equals: 1, "the inserted records of the baseline")
            return time
        }
    }

    @MainActor
    private static func timeOfInsertion(
        of person: Person, in folder: URL
    ) async throws -> (time: Duration, engine: SQLiteStorageEngine) {
        let (time, (engine, store)) = try await timed {
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
            let store = try await Store<Person>(storage: engine, cacheIdentifier: \.id.uuidString)
            try await store.insert(person)
            return (engine, store)
        }
        try verify(store.items == [person], equals: true, "the inserted person")
        return (time, engine)
    }
}
