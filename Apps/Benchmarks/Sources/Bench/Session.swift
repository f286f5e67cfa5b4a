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
        var missed: [Row] = []
        for metric in metrics {
            let outcome = try await metric.measure(plan)
            let row = Row(metric, outcome, isJudged: !plan.isQuick)
            write(asJSON ? try row.json() : table.line(for: row), to: .standardOutput)
            if row.isMet == false { missed.append(row) }
        }
        return missed
    }

    private var environment: [String] {
        var lines = [
            "\(Machine.system), \(Machine.processors) processors, SQLite \(String(cString: sqlite3_libversion())), "
                + "\(Machine.fileSystem(of: plan.scratch.url) ?? "unknown file system")",
            """
            medians of \(plan.runs) interleaved runs after a warm-up; ratio = ours / baseline, max = the promised \
            ratio
            """,
        ]
        if plan.isQuick { lines.append("quick: sizes are a hundredth, so the ratios are not checked") }
        if !Machine.isOptimized { lines.append("WARNING: built without optimization, so the numbers are meaningless") }
        return lines
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
