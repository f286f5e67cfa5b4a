import BenchHarness
import Foundation
import GRDBSQLite

/// Measures metrics in turn and prints each row as soon as it is known.
struct Session {
    var metrics: [Metric]
    var plan: Plan
    var asJSON: Bool

    /// Runs the session.
    ///
    /// - Returns: The rows whose ratio is above its maximum.
    func run() async throws -> [Row] {
        for line in environment { show(line) }
        let table = Table(for: metrics)
        if !asJSON { show(table.header) }
        var rows: [Row] = []
        let start = ContinuousClock.now
        for metric in metrics {
            var outcomes: [Outcome] = []
            for _ in 0..<plan.repetitions { outcomes.append(try await metric.measure(plan)) }
            let row = Row(metric, outcomes, isJudged: !plan.isQuick)
            write(asJSON ? try row.json() : table.line(for: row), to: .standardOutput)
            rows.append(row)
        }
        summarize(rows, time: .now - start)
        return rows.filter { $0.isMet == false }
    }

    /// Says how many rows were measured, and which of them can't be relied on.
    private func summarize(_ rows: [Row], time: Duration) {
        let minutes = String(format: "%.1f", time.milliseconds / 60_000)
        show("\(rows.count) rows in \(minutes) minutes")
        let varying = rows.filter(\.varies).map(\.name)
        if varying.isEmpty { return }
        show(
            """
            \(varying.joined(separator: ", ")): the ratios of \(plan.repetitions) measurements differ by more than a \
            fifth, so measure again while nothing else runs
            """
        )
    }

    private var environment: [String] {
        var lines = [
            "\(Machine.system), \(Machine.processors) processors, SQLite \(String(cString: sqlite3_libversion())), "
                + "\(Machine.fileSystem(of: plan.scratch.url) ?? "unknown file system")",
            """
            medians of \(plan.runs) interleaved runs after a warm-up\(repetitions); ratio = ours / baseline, max = \
            the promised ratio
            """,
        ]
        if plan.isQuick { lines.append("quick: sizes are a hundredth, so the ratios are not checked") }
        if !Machine.isOptimized { lines.append("WARNING: built without optimization, so the numbers are meaningless") }
        return lines
    }

    private var repetitions: String {
        plan.repetitions == 1 ? "" : ", of \(plan.repetitions) measurements the one with the middle ratio"
    }

    /// Prints a line about the session, separate from the results.
    private func show(_ line: String) {
        write(line, to: asJSON ? .standardError : .standardOutput)
    }

    /// Writes a line without buffering. In a pipe, `print` would delay it for minutes.
    private func write(_ line: String, to file: FileHandle) {
        file.write(Data("\(line)\n".utf8))
    }
}
