import ArgumentParser
import BenchHarness
import Foundation
import Logging

/// The command `bench`.
@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: """
            Measures Bodega's engines and objects, Boutique's store and the record coder against hand-written code \
            that does the same work, in the same process.
            """,
        discussion: """
            Examples:
              bench                          all metrics, as a table
              bench --filter sqlite.read     the metrics whose names contain this text
              bench --json > result.ndjson   one JSON object per line
              bench --quick                  tiny sizes: only checks that everything works
              bench --query                  queries of a million items, against SQL with the same index
              bench --server                 a server of collections under load
              bench --sync                   synchronization, against the engine alone
              bench --postgres               the engine for PostgreSQL, against psql and pgbench

            The exit status is 0 after success, 1 after a failure, 2 with --check if a ratio is above its maximum, and \
            64 for an invalid command line.
            """
    )

    @Flag(help: "Print one JSON object per line instead of a table.")
    var json = false

    @Option(help: ArgumentHelp("Measure only the metrics whose names contain this text.", valueName: "name"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "The number of runs of each side, whose medians are compared. (default: 7, or 3 with --check)",
            valueName: "count"))
    var runs: Int?

    @Flag(help: "Use a hundredth of the sizes and one run, without checking the ratios.")
    var quick = false

    @Flag(
        help: """
            Measure each metric that has a maximum three times, and exit with status 2 if the middle ratio of one is \
            above it.
            """)
    var check = false

    @Option(help: ArgumentHelp("The folder for temporary files. (default: /var/tmp)", valueName: "folder"))
    var directory: String?

    @Flag(help: "Measure the engine for PostgreSQL on a temporary server. Only bin/bench builds it.")
    var postgres = false

    @Flag(help: "Measure queries and live windows over many items.")
    var query = false

    @Option(help: ArgumentHelp("The number of items of --query.", valueName: "count"))
    var items = 1_000_000

    @Flag(help: "Measure the server of collections, against Hummingbird alone and against the engine in process.")
    var server = false

    @Flag(help: "Measure synchronization, against the engine alone and against copying by hand.")
    var sync = false

    @Option(help: .hidden)
    var postgresServer: String?

    @Option(help: .hidden)
    var childFollows: String?

    @Option(help: .hidden)
    var childWrites: String?

    @Option(help: .hidden)
    var childReads: String?

    @Option(help: .hidden)
    var childReading = ReadingChild.Kind.values

    @Option(help: .hidden)
    var childServes: String?

    @Option(help: .hidden)
    var childServer = ServingChild.Kind.storage

    @Option(help: .hidden)
    var childSynchronizes: String?

    @Option(help: .hidden)
    var childToken = ""

    func validate() throws {
        if items < 100 { throw ValidationError("--items must be at least 100.") }
        if query && postgres { throw ValidationError("--query measures SQLite and excludes --postgres.") }
        if sync && (server || query || postgres) {
            throw ValidationError("--sync excludes --server, --query and --postgres.")
        }
        if server && (query || postgres) { throw ValidationError("--server excludes --query and --postgres.") }
        if let runs, runs < 1 { throw ValidationError("--runs must be at least 1.") }
        if quick && check { throw ValidationError("--check needs full sizes and can't be used with --quick.") }
        if postgres && (PostgresMetrics.areBuilt && postgresServer != nil) == false {
            throw ValidationError("This program can't measure PostgreSQL. Run bin/bench --postgres instead.")
        }
        if selected.isEmpty {
            let names = available.map(\.name).joined(separator: "\n  ")
            throw ValidationError("No metric's name contains \"\(filter ?? "")\". The names are:\n  \(names)")
        }
    }

    func run() async throws {
        if let childReads {
            let file = URL(fileURLWithPath: childReads)
            return try await ReadingChild(file: file, kind: childReading).beChild()
        }
        if let childWrites { return try await WritingChild.writeTasks(to: childWrites) }
        if let childFollows { return try await FollowingChild.follow(childFollows) }
        if let childServes { return try await ServingChild.serve(childServer, childServes) }
        if let childSynchronizes {
            guard let url = URL(string: childSynchronizes) else { throw ValidationError("The address is not valid.") }
            return try await SynchronizingChild(url: url, token: childToken).beChild()
        }
        // The folders of a metric are removed while its stores still exist, which they notice.
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .warning
            return handler
        }
        let scratch = try Scratch(in: directory.map { URL(fileURLWithPath: $0, isDirectory: true) })
        let interruption = Interruption { try scratch.remove() }
        defer { interruption.cancel() }
        let session = Session(
            metrics: selected,
            plan: Plan(
                runs: quick ? 1 : runs ?? (check ? 3 : 7), repetitions: check ? 3 : 1, isQuick: quick, scratch: scratch
            ),
            asJSON: json
        )
        let missed: [Row]
        do {
            missed = try await session.run()
        } catch {
            try scratch.remove()
            throw error
        }
        try scratch.remove()
        if check && !missed.isEmpty { throw ExitCode(2) }
    }

    private var selected: [Metric] {
        guard let filter else { return available }
        return available.filter { $0.name.contains(filter) }
    }

    private var available: [Metric] { check ? measurable.filter { $0.maximum != nil } : measurable }

    private var measurable: [Metric] {
        if query { return QueryMetrics(count: items).all }
        if server { return ServerMetrics.all }
        if sync { return SyncMetrics.all }
        guard postgres, let postgresServer else { return Metrics.all }
        return PostgresMetrics(starter: URL(fileURLWithPath: postgresServer)).all
    }
}
