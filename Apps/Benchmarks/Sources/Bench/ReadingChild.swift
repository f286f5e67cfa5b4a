import ArgumentParser
import BenchHarness
import Bodega
import Boutique
import Foundation

/// A child process that only reads all items of a database, so that its peak memory is that of reading.
struct ReadingChild {
    /// The database.
    var file: URL
    /// What the child reads.
    var kind: Kind

    enum Kind: String, ExpressibleByArgument {
        /// The values of the items.
        case values
        /// The items with their keys.
        case items
        /// The people in a store.
        case store
        /// The people in an array, decoded by Foundation from all values.
        case array
    }

    /// The child's report.
    struct Report: Codable {
        /// The number of items.
        var items: Int
        /// The size of what the child read, in bytes; of people the size of their names.
        var payload: Int
        /// The peak memory in bytes, less the memory before reading.
        var growth: Int
    }

    /// Starts this program as a child and waits for its report.
    func run() throws -> Report {
        guard let program = Bundle.main.executableURL else {
            throw VerificationFailure("the path of this program is unknown")
        }
        let process = Process()
        process.executableURL = program
        process.arguments = ["--child-reads", file.path, "--child-reading", kind.rawValue]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let report = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try verify(process.terminationStatus, equals: 0, "the exit status of the child")
        return try JSONDecoder().decode(Report.self, from: report)
    }

    /// The child's work: reads and prints the report.
    @MainActor
    func beChild() async throws {
        let engine = try SQLiteStorageEngine(openingFile: file)
        // Connections and statements count as memory before reading.
        _ = try await engine.fetchCount()
        let resting = try ResidentMemory.now()
        let sizes: [Int]
        let peak: Int
        switch kind {
        case .values:
            let found = try await engine.fetchAllData()
            peak = try ResidentMemory.peak()
            sizes = found.map(\.count)
        case .items:
            let found = try await engine.fetchAll()
            peak = try ResidentMemory.peak()
            sizes = found.map { $0.data.count + $0.key.rawValue.utf8.count }
        case .store:
            let store = try await Store<Person>(storage: engine, cacheIdentifier: \.id.uuidString)
            peak = try ResidentMemory.peak()
            sizes = store.items.map(\.name.utf8.count)
        case .array:
            let decoder = JSONDecoder()
            let found = try await engine.fetchAllData().map { try decoder.decode(Person.self, from: $0) }
            peak = try ResidentMemory.peak()
            sizes = found.map(\.name.utf8.count)
        }
        let report = Report(items: sizes.count, payload: sizes.reduce(0, +), growth: peak - resting)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }
}
