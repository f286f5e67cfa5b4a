/// A row of the table: a measurement, its baseline and the promised ratio.
package struct Metric: Sendable {
    /// The row's name, such as `sqlite.read.all`.
    package let name: String
    /// A short description of the baseline.
    package let baseline: String
    /// The promised maximum of the ratio, `nil` if there is none.
    package let maximum: Double?
    /// Measures both sides. Throws if either side fails its verification.
    package let measure: @Sendable (Plan) async throws -> Outcome

    /// Creates a metric.
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
