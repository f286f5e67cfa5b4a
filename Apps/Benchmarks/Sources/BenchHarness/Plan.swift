/// The settings of a session for all metrics.
package struct Plan: Sendable {
    /// The number of runs of each side, without the warm-up.
    package let runs: Int
    /// Whether sizes are tiny, to check that everything works instead of measuring.
    package let isQuick: Bool
    /// The folder for files.
    package let scratch: Scratch

    /// Creates a plan.
    package init(runs: Int, isQuick: Bool, scratch: Scratch) {
        self.runs = runs
        self.isQuick = isQuick
        self.scratch = scratch
    }

    /// The number of items to measure with: the given number, or a hundredth of it in a quick session.
    package func size(_ full: Int) -> Int {
        isQuick ? max(1, full / 100) : full
    }

    /// The same plan with fewer runs, for slow metrics.
    package func limited(toRuns most: Int) -> Plan {
        Plan(runs: min(runs, most), isQuick: isQuick, scratch: scratch)
    }
}
