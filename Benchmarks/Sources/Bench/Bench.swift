import ArgumentParser
import BenchHarness
import Foundation

/// The command `bench`.
@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: """
            Measures Bodega's engines and objects, Boutique's store and the record coder against the same work done by hand, \
            in the same process.
            """,
        discussion: """
            Examples:
              bench                          everything, as a table
              bench --filter sqlite.read     the metrics whose names contain that
              bench --json > result.ndjson   one JSON object a line
              bench --quick                  tiny sizes: does everything still work?
              bench --postgres               the engine for PostgreSQL, against psql and pgbench

            The exit code is 0 if everything was measured, 1 if something failed, 2 with --check if a ratio is above \
            its maximum, 64 for a wrong command line.
            """
    )

    @Flag(help: "Print one JSON object a line instead of the table.")
    var json = false

    @Option(help: ArgumentHelp("Measure only metrics whose name contains this.", valueName: "name"))
    var filter: String?

    @Option(help: ArgumentHelp("How often each side runs; the medians are compared.", valueName: "count"))
    var runs = 7

    @Flag(help: "Use a hundredth of the sizes and one run. The ratios are then not judged.")
    var quick = false

    @Flag(help: "Exit with 2 if a ratio is above its maximum.")
    var check = false

    @Option(help: ArgumentHelp("Where to put the temporary files (default: /var/tmp).", valueName: "folder"))
    var directory: String?

    @Flag(help: "Measure the engine for PostgreSQL, on a server of its own. Only bin/bench builds that.")
    var postgres = false

    @Option(help: .hidden)
    var postgresServer: String?

    @Option(help: .hidden)
    var childFollows: String?

    @Option(help: .hidden)
    var childReads: String?

    @Flag(help: .hidden)
    var childReadsKeys = false

    func validate() throws {
        if runs < 1 { throw ValidationError("--runs must be at least 1.") }
        if quick && check { throw ValidationError("--check needs full sizes, so it does not go with --quick.") }
        if postgres && (PostgresMetrics.areBuilt && postgresServer != nil) == false {
            throw ValidationError("This program can't measure PostgreSQL. Run bin/bench --postgres instead.")
        }
        if selected.isEmpty {
            let names = available.map(\.name).joined(separator: "\n  ")
            throw ValidationError("No metric's name contains \"\(filter ?? "")\". There are:\n  \(names)")
        }
    }

    func run() async throws {
        if let childReads {
            let file = URL(fileURLWithPath: childReads)
            return try await ReadAllChild(file: file, withKeys: childReadsKeys).beChild()
        }
        if let childFollows { return try await FollowingChild.follow(childFollows) }
        let scratch = try Scratch(in: directory.map { URL(fileURLWithPath: $0, isDirectory: true) })
        let interruption = Interruption { try scratch.remove() }
        defer { interruption.cancel() }
        let session = Session(
            metrics: selected,
            plan: Plan(runs: quick ? 1 : runs, isQuick: quick, scratch: scratch),
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

    private var available: [Metric] {
        guard postgres, let postgresServer else { return Metrics.all }
        return PostgresMetrics(starter: URL(fileURLWithPath: postgresServer)).all
    }
}
