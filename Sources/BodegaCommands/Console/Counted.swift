import Foundation

/// Numbers with nouns, in the singular or the plural.
enum Counted {
    /// A number and a noun, such as "1 item" and "2 items". The plural by default has an s.
    static func text(_ count: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(count) \(count == 1 ? singular : plural ?? singular + "s")"
    }

    /// The end of a report, such as ` in 0.25 s (400 a second)`.
    static func rate(of count: Int, in seconds: Double) -> String {
        let rate = Int(Double(count) / max(seconds, 0.001))
        return " in \(String(format: "%.2f", seconds)) s (\(rate) a second)"
    }

    /// "was" or "were".
    static func past(_ count: Int) -> String { count == 1 ? "was" : "were" }
}
