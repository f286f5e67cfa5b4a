import Foundation

/// Numbers for people, in the same form on the terminal and in reports.
enum Quantity {

    /// A time with three digits, such as `4.21 µs`.
    static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<999.5: "\(digits(nanoseconds)) ns"
        case ..<999.5e3: "\(digits(nanoseconds / 1e3)) µs"
        case ..<999.5e6: "\(digits(nanoseconds / 1e6)) ms"
        default: "\(digits(nanoseconds / 1e9)) s"
        }
    }

    /// A time with three digits.
    static func time(_ nanoseconds: UInt64) -> String { time(Double(nanoseconds)) }

    /// A rate per second with three digits, such as `52.1 k/s`.
    static func rate(_ perSecond: Double) -> String { "\(short(perSecond))/s" }

    /// A number with three digits, such as `52.1 k`.
    static func short(_ number: Double) -> String {
        switch number {
        case ..<999.5: digits(number)
        case ..<999.5e3: "\(digits(number / 1e3)) k"
        case ..<999.5e6: "\(digits(number / 1e6)) M"
        default: "\(digits(number / 1e9)) G"
        }
    }

    /// A size with three digits, such as `1.50 MB` for 1,500,000 bytes.
    static func bytes(_ bytes: Double) -> String {
        let size = abs(bytes)
        let text =
            switch size {
            case ..<999.5: "\(digits(size.rounded())) B"
            case ..<999.5e3: "\(digits(size / 1e3)) kB"
            case ..<999.5e6: "\(digits(size / 1e6)) MB"
            default: "\(digits(size / 1e9)) GB"
            }
        return bytes < 0 ? "−\(text)" : text
    }

    /// A whole number with thousands separators, such as `100,000`.
    static func whole(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return number < 0 ? "−\(result)" : result
    }

    /// A growth, such as `n^0.98`.
    static func growth(_ fit: GrowthFit) -> String {
        // Negative zero is shown as zero.
        let exponent = abs(fit.exponent) < 0.005 ? 0 : fit.exponent
        return "n^" + String(format: "%.2f", exponent)
    }

    /// Three digits without trailing zeros of a whole number.
    private static func digits(_ number: Double) -> String {
        switch number {
        case ..<9.995: number == number.rounded() ? String(format: "%.0f", number) : String(format: "%.2f", number)
        case ..<99.95: number == number.rounded() ? String(format: "%.0f", number) : String(format: "%.1f", number)
        default: String(format: "%.0f", number)
        }
    }
}
