import BenchHarness
import Bodega
import CodableStoreKit
import Foundation
import RecordCoder

extension Metrics {
    static let codableStoreSaving = [
        Metric("codablestore.save.one", baseline: "encoding + POSIX write, sync, rename, sync", maximum: 1.6) { plan in
            try await saveOne(plan) { folder in
                let (files, encoder) = (try POSIXFolder(folder), RecordEncoder())
                return { person in try files.writeDurably(encoder.encode(person), name: person.id.uuidString) }
            }
        },
        // What the original library does for each save. It does not sync the folder, so a power failure can lose the
        // file's name, and with it the saved object.
        Metric(
            "codablestore.save.one.original", baseline: "JSONEncoder + Data.write(to:options: .atomic)", maximum: nil
        ) { plan in
            try await saveOne(plan) { folder in { person in try saveAsOriginal(person, in: folder) } }
        },
        Metric(
            "codablestore.save.one.original.synced", baseline: "JSONEncoder + Data.write(to:options: .atomic) + sync",
            maximum: 1.6
        ) { plan in
            try await saveOne(plan) { folder in
                let files = try POSIXFolder(folder)
                return { person in
                    try saveAsOriginal(person, in: folder)
                    try files.synchronizeEntries()
                }
            }
        },
    ]

    private static func saveAsOriginal(_ person: Person, in folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(person.id.uuidString, isDirectory: false)
        try JSONEncoder().encode(person).write(to: file, options: .atomic)
    }

    /// Saves new objects, each of them durable in its own file when the save returns.
    ///
    /// Both folders are kept for all runs, and each run saves new objects, so both grow equally.
    private static func saveOne(
        _ plan: Plan, baseline: (URL) throws -> (Person) throws -> Void
    ) async throws -> Outcome {
        let count = plan.size(300)
        return try await plan.scratch.withFolder { folder in
            let store = CodableStore<Person>(engine: .fileSystem(in: FileManager.Directory(url: folder)))
            return try await plan.scratch.withFolder { folder in
                let files = try POSIXFolder(folder)
                let save = try baseline(folder)
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
                        let time = try timed { for person in people { try save(person) } }.time
                        try verify(files.count(), equals: baselineNumber, "files of the baseline")
                        return time
                    }
                )
            }
        }
    }
}
