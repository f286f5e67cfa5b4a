import Foundation

/// A metric with its outcome, ready to be shown.
package struct Row: Sendable {
    /// The metric's name.
    package let name: String
    /// What ours was compared with.
    package let baseline: String
    /// The largest ratio that was promised, `nil` if nothing was.
    package let maximum: Double?
    /// What was found out.
    package let outcome: Outcome
    /// Whether the promise was kept; `nil` if there is none, or sizes were too small to tell.
    package let isMet: Bool?

    /// Judges an outcome.
    package init(_ metric: Metric, _ outcome: Outcome, isJudged: Bool) {
        name = metric.name
        baseline = metric.baseline
        maximum = metric.maximum
        self.outcome = outcome
        isMet = isJudged ? metric.maximum.map { outcome.ratio <= $0 } : nil
    }

    /// The row as one line of JSON, its members always in the same order.
    ///
    /// A row about memory has `null` as its milliseconds, and `ours_bytes` and `baseline_bytes` at the end.
    package func json() throws -> String {
        // An encoder would put the members of an object in any order, so it only encodes the values.
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
        ]
        if isTime { return members }
        return members + [("ours_bytes", Int(outcome.ours)), ("baseline_bytes", Int(outcome.baseline))]
    }
}

extension Double {
    /// More digits than this are noise.
    fileprivate var toThousandths: Double { (self * 1000).rounded() / 1000 }
}
