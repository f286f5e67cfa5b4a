import Foundation

/// Places numbers on an axis so that equal ratios have equal distances.
struct LogScale {
    private let low: Double
    private let high: Double
    private let start: Double
    private let end: Double

    /// Makes a scale that holds some numbers.
    ///
    /// - Parameters:
    ///   - values: The numbers. Those that are not above zero are left out.
    ///   - start: Where the smallest power of ten at or below them is.
    ///   - end: Where the largest is.
    init(_ values: [Double], from start: Double, to end: Double) {
        let logs = values.filter { $0 > 0 && $0.isFinite }.map(log10)
        let low = ((logs.min() ?? 0) + 1e-9).rounded(.down)
        self.low = low
        high = max(((logs.max() ?? 1) - 1e-9).rounded(.up), low + 1)
        self.start = start
        self.end = end
    }

    /// Makes a scale that ends where the numbers end.
    init(exactly values: [Double], from start: Double, to end: Double) {
        let logs = values.filter { $0 > 0 && $0.isFinite }.map(log10)
        low = logs.min() ?? 0
        high = max(logs.max() ?? 1, low + 0.01)
        self.start = start
        self.end = end
    }

    /// Where a number is; what lies outside is at the end.
    func position(_ value: Double) -> Double {
        let place = value > 0 ? (log10(value) - low) / (high - low) : 0
        return start + min(max(place, 0), 1) * (end - start)
    }

    /// The powers of ten of the scale, of many only some.
    var ticks: [Double] {
        let step = max(1, ((high - low) / 5).rounded(.up))
        return stride(from: low, through: high + 1e-9, by: step).map { pow(10, $0) }
    }
}
