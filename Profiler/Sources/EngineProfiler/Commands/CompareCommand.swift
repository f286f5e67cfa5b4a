import ArgumentParser
import Foundation

/// `profiler compare`: shows what has become faster or slower between two runs.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compares two files of results.",
        discussion: """
            Ratios are B / A: below 1, calls of B take less time; above 1 in the last column, B does more in the same \
            time. A change is marked if all slices of one measurement lie beyond all of the other, which happens by \
            chance once in 126 comparisons, and the medians differ by more than 3 %.

            Examples:
              profiler compare before.json after.json
              profiler compare before.json after.json --fail-above 1.2

            Engines are matched by name. If each file has one engine, these two are compared whatever their names.
            """
    )

    @Argument(help: "The results to compare with.")
    var a: String

    @Argument(help: "The results that are judged.")
    var b: String

    @Option(
        help: ArgumentHelp(
            "Exit with 1 if the median of any operation is marked and its ratio is above this.", valueName: "ratio"))
    var failAbove: Double?

    @Flag(help: "Only show what is marked.")
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
                "\(slower.count) of \(comparison.rows.count) medians are above \(failAbove) times what they were.\n")
            throw ExitCode(1)
        }
    }
}
