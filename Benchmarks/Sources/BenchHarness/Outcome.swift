/// What a metric found out.
package struct Outcome: Sendable, Equatable {
    /// What the two amounts count.
    package enum Unit: Sendable, Equatable {
        case milliseconds
        case bytes
    }

    /// The number of items that each side handled.
    package var items: Int
    /// Ours.
    package var ours: Double
    /// What ours is compared with.
    package var baseline: Double
    /// What the two amounts count.
    package var unit: Unit

    /// Ours relative to the baseline; less is better.
    package var ratio: Double { ours / baseline }

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
}

extension Duration {
    /// The duration in milliseconds, with their fraction.
    package var milliseconds: Double {
        Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15
    }
}
