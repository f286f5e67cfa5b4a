import BenchHarness
import Foundation

/// A PostgreSQL server that runs as long as this object exists, with its client programs.
///
/// A program of the package's tests starts it, and stops and removes it at the end of its input.
final class BenchServer: Sendable {
    private struct Place: Decodable {
        let url: String
        let programs: String
    }

    private let place: Place
    private let leash: Pipe
    private let starter: Process

    /// Starts a server and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - program: The program that starts the server.
    ///   - folder: The folder of the server's files.
    init(startedBy program: URL, in folder: URL) throws {
        (starter, leash) = (Process(), Pipe())
        let output = Pipe()
        starter.executableURL = program
        // A run must fit between two checkpoints, or one side would pay for those of the other.
        starter.arguments = [
            "serve-postgres", "shared_buffers=256MB", "max_wal_size=4GB", "checkpoint_timeout=1h", "autovacuum=off",
        ]
        starter.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
        starter.standardInput = leash
        starter.standardOutput = output
        try starter.run()
        let line = output.fileHandleForReading.availableData
        guard !line.isEmpty else { throw VerificationFailure("no PostgreSQL server could be started") }
        place = try JSONDecoder().decode(Place.self, from: line)
    }

    deinit {
        do { try leash.fileHandleForWriting.close() } catch {}
        starter.waitUntilExit()
    }

    /// The address of the database.
    var url: String { place.url }

    /// Executes SQL with psql.
    ///
    /// - Returns: The output, without titles and alignment.
    @discardableResult
    func psql(_ script: String) throws -> String {
        let options = ["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1"]
        return try run("psql", options + ["--dbname", url], input: script)
    }

    /// The number of the first collection.
    func collectionNumber() throws -> Int {
        let answer = try psql("SELECT min(id) FROM emporium_collections").split(separator: "\n")
        guard let number = answer.first.flatMap({ Int($0) }) else { throw VerificationFailure("no collection exists") }
        return number
    }

    /// The time of a statement or command according to psql.
    func timeOfPsql(_ command: String) throws -> Duration {
        let answer = try psql("\\timing on\n\(command)\n")
        guard let line = answer.split(separator: "\n").last(where: { $0.hasPrefix("Time: ") }),
            let milliseconds = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { throw VerificationFailure("psql reported no time: \(answer)") }
        return .nanoseconds(Int64(milliseconds * 1e6))
    }

    /// The transactions per second according to pgbench.
    func transactionsPerSecond(script: URL, clients: Int, transactionsPerClient: Int) throws -> Double {
        let answer = try run(
            "pgbench",
            [
                "--no-vacuum", "--protocol", "prepared", "--client", "\(clients)", "--jobs",
                "\(min(clients, Machine.processors))", "--transactions", "\(transactionsPerClient)", "--file",
                script.path,
                url,
            ]
        )
        guard let line = answer.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
            let rate = line.split(separator: " ").dropFirst(2).first.flatMap({ Double($0) })
        else { throw VerificationFailure("pgbench reported no rate: \(answer)") }
        return rate
    }

    private func run(_ program: String, _ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        let (feed, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: place.programs).appendingPathComponent(program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PG") }
        process.standardInput = feed
        process.standardOutput = output
        try process.run()
        // The scripts fit into the buffer of a pipe.
        try feed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try feed.fileHandleForWriting.close()
        let answer = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw VerificationFailure("\(program) exited with status \(process.terminationStatus): \(answer)")
        }
        return answer
    }
}
