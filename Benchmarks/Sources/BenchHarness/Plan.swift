/// How to measure, the same for all metrics of a session.
package struct Plan: Sendable {
    /// How often each side runs, the warm-up not counted.
    package let runs: Int
    /// Whether sizes are tiny, to find out that everything works rather than how fast.
    package let isQuick: Bool
    /// Where files go.
    package let scratch: Scratch

    /// Makes a plan.
    package init(runs: Int, isQuick: Bool, scratch: Scratch) {
        self.runs = runs
        self.isQuick = isQuick
        self.scratch = scratch
    }

    /// The number of items to measure with: the given one, or a hundredth of it when quick.
    package func size(_ full: Int) -> Int {
        isQuick ? max(1, full / 100) : full
    }

    /// The same plan with fewer runs, for what takes long.
    package func limited(toRuns most: Int) -> Plan {
        Plan(runs: min(runs, most), isQuick: isQuick, scratch: scratch)
    }
}
