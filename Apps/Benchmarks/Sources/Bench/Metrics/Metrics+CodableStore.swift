import BenchHarness
import Bodega
import CodableStoreKit
import Foundation
import RecordCoder

extension Metrics {
    static let codableStore =
        codableStoreSaving + [
            Metric("codablestore.collection", baseline: "POSIX open and read loop + decoding alone", maximum: 1.4) {
                plan in
                try await readCollectionOfFiles(plan)
            },
            Metric("codablestore.collection.sqlite", baseline: "the engine alone + decoding alone", maximum: 1.4) {
                plan in
                try await readCollectionOfSQLite(plan)
            },
        ]

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
