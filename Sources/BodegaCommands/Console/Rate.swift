import Foundation

/// The text that reports a duration and a rate.
enum Rate {
    /// The end of a report, such as ` in 0.25 s (400 a second)`.
    static func text(of count: Int, in seconds: Double) -> String {
        let rate = Int(Double(count) / max(seconds, 0.001))
        return " in \(String(format: "%.2f", seconds)) s (\(rate) a second)"
    }
}
