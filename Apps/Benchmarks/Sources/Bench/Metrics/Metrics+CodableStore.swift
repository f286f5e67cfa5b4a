import BenchHarness
import Bodega
import CodableStoreKit
import Foundation
import RecordCoder

extension Metrics {
    static let codableStore = [
        Metric("codablestore.save.one", baseline: "encoding + POSIX write, sync, rename, sync", maximum: 1.3) { plan in
            try await saveOne(plan)
        },
        Metric("codablestore.collection", baseline: "POSIX open and read loop + decoding alone", maximum: 1.2) { plan in
            try await readCollectionOfFiles(plan)
        },
        Metric("codablestore.collection.sqlite", baseline: "the engine alone + decoding alone", maximum: 1.2) { plan in
            try await readCollectionOfSQLite(plan)
        },
    ]

    /// Saves new objects, each of them durable in its own file when the save returns.
    ///
    /// Both folders are kept for all runs, and each run saves new objects, so both grow equally.
    private static func saveOne(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(300)
        return try await plan.scratch.withFolder { folder in
            let store = CodableStore<Person>(engine: .fileSystem(in: FileManager.Directory(url: folder)))
            return try await plan.scratch.withFolder { folder in
                let files = try POSIXFolder(folder)
                let encoder = RecordEncoder()
                var (ourNumber, baselineNumber) = (0, 0)
                return try await compare(
                    items: count,
                    runs: plan.runs,
                    ours: {
                        let people = People.make(ourNumber..<ourNumber + count)
                        ourNumber += count
                        let time = try timed { for person in people { try store.save(person) } }.time
                        let saved = try store.getCollection()
                        try verify(saved.suffix(count) == people[...], equals: true, "the objects saved last")
                        try verify(saved.count, equals: ourNumber, "objects saved")
                        return time
                    },
                    baseline: {
                        let people = People.make(baselineNumber..<baselineNumber + count)
                        baselineNumber += count
                        let time = try timed {
                            for person in people {
                                try files.writeDurably(encoder.encode(person), name: person.id.uuidString)
                            }
                        }.time
                        try verify(files.count(), equals: baselineNumber, "files of the baseline")
                        return time
                    }
                )
            }
        }
    }

    private static func readCollectionOfFiles(_ plan: Plan) async throws -> Outcome {
        let people = People.make(0..<plan.size(10_000))
        return try await plan.scratch.withFolder { folder in
            let store = CodableStore<Person>(engine: .fileSystem(in: FileManager.Directory(url: folder)))
            for result in store.save(people) { if let error = result.error { throw error } }
            // A separate folder: the store's other files must not become objects of the baseline.
            return try await plan.scratch.withFolder { folder in
                let files = try POSIXFolder(folder)
                let encoder = RecordEncoder()
                try files.write(people.map { (CacheKey(verbatim: $0.id.uuidString), try encoder.encode($0)) })
                let expected = Set(people)
                let decoder = RecordDecoder()
                return try await compare(
                    items: people.count,
                    runs: plan.runs,
                    ours: {
                        let (time, found) = try timed { try store.getCollection() }
                        try verify(found == people, equals: true, "the objects read, in their order")
                        return time
                    },
                    baseline: {
                        let (time, found) = try timed {
                            try files.readAll().map { try decoder.decode(Person.self, from: $0) }
                        }
                        try verify(Set(found) == expected, equals: true, "the objects of the baseline")
                        return time
                    }
                )
            }
        }
    }

    private static func readCollectionOfSQLite(_ plan: Plan) async throws -> Outcome {
        let people = People.make(0..<plan.size(10_000))
        return try await plan.scratch.withFolder { folder in
            let store = CodableStore<Person>(engine: .sqlite(in: FileManager.Directory(url: folder)))
            for result in store.save(people) { if let error = result.error { throw error } }
            return try await plan.scratch.withFolder { folder in
                let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
                let encoder = RecordEncoder()
                try await engine.write(people.map { (People.key(of: $0), try encoder.encode($0)) })
                let decoder = RecordDecoder()
                return try await compare(
                    items: people.count,
                    runs: plan.runs,
                    ours: {
                        let (time, found) = try timed { try store.getCollection() }
                        try verify(found == people, equals: true, "the objects read, in their order")
                        return time
                    },
                    baseline: {
                        let (time, found) = try await timed {
                            try await engine.fetchAllData().map { try decoder.decode(Person.self, from: $0) }
                        }
                        try verify(found == people, equals: true, "the objects of the baseline")
                        return time
                    }
                )
            }
        }
    }
}

extension Person: CodableStoreable {
    static var codableStoreIdentifier: KeyPath<Person, UUID> { \.id }
}
