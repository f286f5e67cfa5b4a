import Foundation

/// A metric with its outcome, ready to be shown.
package struct Row: Sendable {
    /// The metric's name.
    package let name: String
    /// What ours was compared with.
    package let baseline: String
    /// The largest ratio that was promised.
    package let maximum: Double
    /// What was found out.
    package let outcome: Outcome
    /// Whether the promise was kept; `nil` if sizes were too small to tell.
    package let isMet: Bool?

    /// Judges an outcome.
    package init(_ metric: Metric, _ outcome: Outcome, isJudged: Bool) {
        name = metric.name
        baseline = metric.baseline
        maximum = metric.maximum
        self.outcome = outcome
        isMet = isJudged ? outcome.ratio <= metric.maximum : nil
    }

    /// The row as one line of JSON.
    ///
    /// A row about memory has `null` as its milliseconds, and `ours_bytes` and `baseline_bytes` beside them.
    package func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension Row: Encodable {
    private enum CodingKeys: String, CodingKey {
        case metric, n, baseline, ratio, max, met
        case ours_ms, baseline_ms, ours_bytes, baseline_bytes
    }

    /// Encodes the row under the names that `--json` documents.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .metric)
        try container.encode(outcome.items, forKey: .n)
        try container.encode(baseline, forKey: .baseline)
        try container.encode(outcome.ratio.toThousandths, forKey: .ratio)
        try container.encode(maximum, forKey: .max)
        try container.encode(isMet, forKey: .met)
        switch outcome.unit {
        case .milliseconds:
            try container.encode(outcome.ours.toThousandths, forKey: .ours_ms)
            try container.encode(outcome.baseline.toThousandths, forKey: .baseline_ms)
        case .bytes:
            try container.encodeNil(forKey: .ours_ms)
            try container.encodeNil(forKey: .baseline_ms)
            try container.encode(Int(outcome.ours), forKey: .ours_bytes)
            try container.encode(Int(outcome.baseline), forKey: .baseline_bytes)
        }
    }
}

extension Double {
    /// More digits than this are noise.
    fileprivate var toThousandths: Double { (self * 1000).rounded() / 1000 }
}
