import ArgumentParser
import Foundation

/// `profiler compare`: shows which operations are faster or slower in the second of two runs.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compares two files of results.",
        discussion: """
            Ratios are B / A. For latencies a ratio below 1 means that B is faster; for throughput, a ratio above 1. A \
            change is marked if all slices of one measurement are above all slices of the other, which happens by \
            chance once in 126 comparisons, and the medians differ by more than 3 %.

            Examples:
              profiler compare before.json after.json
              profiler compare before.json after.json --fail-above 1.2

            Engines are matched by name. If each file has one engine, these two are compared even if their names differ.
            """
    )

    @Argument(help: "The results of the baseline.")
    var a: String

    @Argument(help: "The results to compare with the baseline.")
    var b: String

    @Option(
        help: ArgumentHelp(
            "Exit with status 1 if any marked median has a ratio above this one.", valueName: "ratio"))
    var failAbove: Double?

    @Flag(help: "Only show marked changes.")
    var changesOnly = false

    func validate() throws {
        if let failAbove, !(failAbove > 0) { throw ValidationError("--fail-above must be above 0.") }
    }

    func run() throws {
        let comparison = try Comparison(try Profile(path: a), try Profile(path: b))
        let terminal = Terminal.standard(.standardOutput)
        let lines = ComparisonTable(comparison: comparison, terminal: terminal, changesOnly: changesOnly).lines
        terminal.write(lines.map { $0 + "\n" }.joined())
        guard let failAbove else { return }
        let slower = comparison.rows.filter { $0.isSlower(than: failAbove) }
        if !slower.isEmpty {
            Terminal.standard(.standardError).write(
                "\(slower.count) of \(comparison.rows.count) medians are above \(failAbove) times the baseline.\n")
            throw ExitCode(1)
        }
    }
}
