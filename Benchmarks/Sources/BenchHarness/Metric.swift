/// One row of the table: what is measured, against what, and what was promised.
package struct Metric: Sendable {
    /// The row's name, such as `sqlite.read.all`.
    package let name: String
    /// What ours is compared with, in a few words.
    package let baseline: String
    /// The largest ratio that was promised, `nil` if nothing was.
    package let maximum: Double?
    /// Measures both sides. It throws if either did not do what it was to do.
    package let measure: @Sendable (Plan) async throws -> Outcome

    /// Describes a row.
    package init(
        _ name: String,
        baseline: String,
        maximum: Double?,
        measure: @escaping @Sendable (Plan) async throws -> Outcome
    ) {
        self.name = name
        self.baseline = baseline
        self.maximum = maximum
        self.measure = measure
    }
}
