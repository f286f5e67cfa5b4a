/// The settings of a session for all metrics.
package struct Plan: Sendable {
    /// The number of runs of each side, without the warm-up.
    package let runs: Int
    /// How many times each metric is measured. The measurement with the middle ratio counts.
    package let repetitions: Int
    /// Whether sizes are tiny, to check that everything works instead of measuring.
    package let isQuick: Bool
    /// The folder for files.
    package let scratch: Scratch

    /// Creates a plan.
    package init(runs: Int, repetitions: Int = 1, isQuick: Bool, scratch: Scratch) {
        self.runs = runs
        self.repetitions = repetitions
        self.isQuick = isQuick
        self.scratch = scratch
    }

    /// The number of items to measure with: the given number, or a hundredth of it in a quick session.
    package func size(_ full: Int) -> Int {
        isQuick ? max(1, full / 100) : full
    }
}
