import BenchHarness
import Bodega
import Foundation

/// A process that does nothing but read all items of a database, so that its peak is the peak of that.
struct ReadAllChild {
    /// The database.
    var file: URL
    /// Whether to read the keys too.
    var withKeys: Bool

    /// What the child found out.
    struct Report: Codable {
        /// How many items it read.
        var items: Int
        /// How many bytes these have.
        var payload: Int
        /// The most memory it used, in bytes, without what it used before it read.
        var growth: Int
    }

    /// Starts this program again and waits for its report.
    func run() throws -> Report {
        guard let program = Bundle.main.executableURL else {
            throw VerificationFailure("the program does not know where it is")
        }
        let process = Process()
        process.executableURL = program
        process.arguments = ["--child-reads", file.path] + (withKeys ? ["--child-reads-keys"] : [])
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let report = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try verify(process.terminationStatus, equals: 0, "the exit code of the child")
        return try JSONDecoder().decode(Report.self, from: report)
    }

    /// Does the child's work and prints its report.
    func beChild() async throws {
        let engine = try SQLiteStorageEngine(openingFile: file)
        // Connections and statements belong to the resting size.
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
