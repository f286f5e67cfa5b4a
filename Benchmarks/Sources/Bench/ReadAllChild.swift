import BenchHarness
import Bodega
import Foundation

/// A child process that only reads all items of a database, so that its peak memory is that of reading.
struct ReadAllChild {
    /// The database.
    var file: URL
    /// Whether to read the keys, too.
    var withKeys: Bool

    /// The child's report.
    struct Report: Codable {
        /// The number of items.
        var items: Int
        /// The size of the items in bytes.
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
        process.arguments = ["--child-reads", file.path] + (withKeys ? ["--child-reads-keys"] : [])
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let report = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try verify(process.terminationStatus, equals: 0, "the exit status of the child")
        return try JSONDecoder().decode(Report.self, from: report)
    }

    /// The child's work: reads and prints the report.
    func beChild() async throws {
        let engine = try SQLiteStorageEngine(openingFile: file)
        // Connections and statements count as memory before reading.
        _ = try await engine.fetchCount()
        let resting = try ResidentMemory.now()
        let items: Int
        let payload: Int
        let peak: Int
        if withKeys {
            let found = try await engine.fetchAll()
            peak = try ResidentMemory.peak()
            items = found.count
            payload = found.reduce(0) { $0 + $1.data.count + $1.key.rawValue.utf8.count }
        } else {
            let found = try await engine.fetchAllData()
            peak = try ResidentMemory.peak()
            items = found.count
            payload = found.reduce(0) { $0 + $1.count }
        }
        let report = Report(items: items, payload: payload, growth: peak - resting)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }
}
