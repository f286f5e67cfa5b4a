import Foundation

/// A comparison as a table for the terminal.
struct ComparisonTable {
    /// The comparison.
    let comparison: Comparison
    /// The terminal.
    let terminal: Terminal
    /// Whether rows without a marked change are left out.
    let changesOnly: Bool

    /// The lines.
    var lines: [String] {
        let rows = comparison.rows.filter { !changesOnly || $0.change != .none }
        var table = TextTable(
            ["engine", "operation", "items", "p50 A", "p50 B", "p50", "p99", "items/s", "change"], leading: [0, 1, 8])
        for row in rows {
            table.add([
                Terminal.safe(row.engine), Terminal.safe(row.operation), Quantity.whole(row.items),
                Quantity.time(row.a.latency.p50), Quantity.time(row.b.latency.p50), ratio(row.p50), ratio(row.p99),
                ratio(row.throughput),
                row.hasEnoughSlices ? (row.change == .none ? "" : row.change.rawValue) : "too few slices",
            ])
        }
        var lines = comparison.notes.map { terminal.styled("Note: \(Terminal.safe($0))", .dim) }
        if rows.isEmpty {
            lines.append("No change is beyond noise.")
        } else {
            let text = table.lines
            lines.append(terminal.styled(text[0], .bold))
            for (row, line) in zip(rows, text.dropFirst()) {
                switch row.change {
                case .faster: lines.append(terminal.styled(line, .green))
                case .slower: lines.append(terminal.styled(line, .red))
                case .none: lines.append(line)
                }
            }
        }
        let faster = comparison.rows.filter { $0.change == .faster }.count
        let slower = comparison.rows.filter { $0.change == .slower }.count
        lines.append("")
        lines.append("Ratios are B / A. \(faster) faster, \(slower) slower, of \(comparison.rows.count).")
        return lines
    }

    private func ratio(_ ratio: Double) -> String { String(format: "%.2f×", ratio) }
}
