import Foundation

/// A metric with its outcome, for output.
package struct Row: Sendable {
    /// The metric's name.
    package let name: String
    /// A short description of the baseline.
    package let baseline: String
    /// The promised maximum of the ratio, `nil` if there is none.
    package let maximum: Double?
    /// The outcome; of several, the one with the middle ratio.
    package let outcome: Outcome
    /// By which part of the middle ratio the ratios of several outcomes differ, `nil` for one outcome.
    package let spread: Double?
    /// Whether the ratio is within the maximum; `nil` if there is none, or if the sizes were too small.
    package let isMet: Bool?

    /// Whether the ratios differ by more than a fifth, so that the middle one says little.
    package var varies: Bool { (spread ?? 0) > 0.2 }

    /// Creates a row and checks its ratio.
    ///
    /// - Parameters:
    ///   - metric: The metric.
    ///   - outcomes: What was measured, once or several times.
    ///   - isJudged: Whether the sizes were large enough to check the ratio.
    /// - Precondition: `outcomes` is not empty.
    package init(_ metric: Metric, _ outcomes: [Outcome], isJudged: Bool) {
        let sorted = outcomes.sorted { $0.ratio < $1.ratio }
        let middle = sorted[sorted.count / 2]
        name = metric.name
        baseline = metric.baseline
        maximum = metric.maximum
        outcome = middle
        spread = sorted.count > 1 ? (sorted[sorted.count - 1].ratio - sorted[0].ratio) / middle.ratio : nil
        isMet = isJudged ? metric.maximum.map { middle.ratio <= $0 } : nil
    }

    /// The row as one line of JSON with its members in a fixed order.
    ///
    /// A row about memory or hits has `null` for its milliseconds, and `ours_bytes` and `baseline_bytes`, or
    /// `ours_hits` and `baseline_hits`, at the end.
    package func json() throws -> String {
        // An encoder would not keep the order of members, so it only encodes the values.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let fields = try members.map { name, value in
            #""\#(name)":"# + String(decoding: try encoder.encode(value), as: UTF8.self)
        }
        return "{" + fields.joined(separator: ",") + "}"
    }

    private var members: [(name: String, value: any Encodable)] {
        let isTime = outcome.unit == .milliseconds
        let members: [(name: String, value: any Encodable)] = [
            ("metric", name),
            ("n", outcome.items),
            ("ours_ms", isTime ? outcome.ours.toThousandths : nil),
            ("baseline", baseline),
            ("baseline_ms", isTime ? outcome.baseline.toThousandths : nil),
            ("ratio", outcome.ratio.toThousandths),
            ("max", maximum),
            ("met", isMet),
            ("spread", spread?.toThousandths),
        ]
        if isTime { return members }
        let unit = outcome.unit == .bytes ? "bytes" : "hits"
        return members + [("ours_" + unit, Int(outcome.ours)), ("baseline_" + unit, Int(outcome.baseline))]
    }
}

extension Double {
    /// More digits than this are noise.
    fileprivate var toThousandths: Double { (self * 1000).rounded() / 1000 }
}
