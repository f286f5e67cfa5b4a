import Foundation

/// A logarithmic scale: equal ratios have equal distances.
struct LogScale {
    private let low: Double
    private let high: Double
    private let start: Double
    private let end: Double

    /// Creates a scale that covers some numbers.
    ///
    /// - Parameters:
    ///   - values: The numbers. Numbers that are not positive are ignored.
    ///   - start: The position of the largest power of ten at or below all numbers.
    ///   - end: The position of the smallest power of ten at or above all numbers.
    init(_ values: [Double], from start: Double, to end: Double) {
        let logs = values.filter { $0 > 0 && $0.isFinite }.map(log10)
        let low = ((logs.min() ?? 0) + 1e-9).rounded(.down)
        self.low = low
        high = max(((logs.max() ?? 1) - 1e-9).rounded(.up), low + 1)
        self.start = start
        self.end = end
    }

    /// Creates a scale that ends at the smallest and largest numbers.
    init(exactly values: [Double], from start: Double, to end: Double) {
        let logs = values.filter { $0 > 0 && $0.isFinite }.map(log10)
        low = logs.min() ?? 0
        high = max(logs.max() ?? 1, low + 0.01)
        self.start = start
        self.end = end
    }

    /// The position of a number. Numbers outside of the scale are at its ends.
    func position(_ value: Double) -> Double {
        let place = value > 0 ? (log10(value) - low) / (high - low) : 0
        return start + min(max(place, 0), 1) * (end - start)
    }

    /// The powers of ten of the scale; only some of them if there are many.
    var ticks: [Double] {
        let step = max(1, ((high - low) / 5).rounded(.up))
        return stride(from: low, through: high + 1e-9, by: step).map { pow(10, $0) }
    }
}
