import Foundation

/// The aligned table of results for people.
///
/// It is written line by line during the session, so its widths are computed from the metrics.
package struct Table: Sendable {
    private let nameWidth: Int

    /// Creates a table for the given metrics.
    package init(for metrics: [Metric]) {
        nameWidth = max("metric".count, metrics.map(\.name.count).max() ?? 0)
    }

    /// The line of titles.
    package var header: String {
        line("metric", "n", "ours", "baseline", "ratio", "max", "met", "varies", "compared with")
    }

    /// The line of an outcome.
    package func line(for row: Row) -> String {
        line(
            row.name,
            String(row.outcome.items),
            amount(row.outcome.ours, row.outcome.unit),
            amount(row.outcome.baseline, row.outcome.unit),
            String(format: "%.2f", row.outcome.ratio),
            row.maximum.map { String(format: "%.2f", $0) } ?? "-",
            row.isMet.map { $0 ? "yes" : "NO" } ?? "-",
            row.spread.map { String(format: "%.0f %%", $0 * 100) + (row.varies ? "!" : "") } ?? "-",
            row.baseline
        )
    }

    private func line(
        _ name: String,
        _ items: String,
        _ ours: String,
        _ baseline: String,
        _ ratio: String,
        _ maximum: String,
        _ met: String,
        _ spread: String,
        _ comparison: String
    ) -> String {
        [
            name.padding(toLength: nameWidth, withPad: " ", startingAt: 0),
            items.leftPadded(to: 8),
            ours.leftPadded(to: 13),
            baseline.leftPadded(to: 13),
            ratio.leftPadded(to: 6),
            maximum.leftPadded(to: 5),
            met.leftPadded(to: 4),
            spread.leftPadded(to: 6),
            comparison,
        ].joined(separator: "  ")
    }

    private func amount(_ value: Double, _ unit: Outcome.Unit) -> String {
        switch unit {
        case .milliseconds: String(format: "%.2f ms", value)
        case .bytes: String(format: "%.1f MiB", value / 1_048_576)
        case .hits: String(format: "%.0f hits", value)
        }
    }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
