/// The outcome of a metric.
package struct Outcome: Sendable, Equatable {
    /// The unit of the two amounts.
    package enum Unit: Sendable, Equatable {
        case milliseconds
        case bytes
        /// Reads that a cache answers; more is better.
        case hits
    }

    /// The number of items that each side handled.
    package var items: Int
    /// The amount of our side.
    package var ours: Double
    /// The amount of the baseline.
    package var baseline: Double
    /// The unit of the two amounts.
    package var unit: Unit

    /// Our amount relative to the baseline, or for hits the baseline's relative to ours; less is better.
    package var ratio: Double { unit == .hits ? baseline / ours : ours / baseline }

    /// An outcome in milliseconds.
    package init(items: Int, ours: Duration, baseline: Duration) {
        self.items = items
        self.ours = ours.milliseconds
        self.baseline = baseline.milliseconds
        self.unit = .milliseconds
    }

    /// An outcome in bytes.
    package init(items: Int, oursBytes: Int, baselineBytes: Int) {
        self.items = items
        self.ours = Double(oursBytes)
        self.baseline = Double(baselineBytes)
        self.unit = .bytes
    }

    /// An outcome in hits of a cache.
    package init(items: Int, oursHits: Int, baselineHits: Int) {
        self.items = items
        self.ours = Double(oursHits)
        self.baseline = Double(baselineHits)
        self.unit = .hits
    }
}

extension Duration {
    /// The duration in milliseconds, including the fraction.
    package var milliseconds: Double {
        Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15
    }
}
