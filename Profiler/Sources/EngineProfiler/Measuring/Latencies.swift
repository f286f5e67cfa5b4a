import Histogram

/// How long calls took, in a histogram of fixed size.
///
/// It is Gil Tene's High Dynamic Range histogram, see http://hdrhistogram.org: with two significant digits a time is off
/// by at most 1 %, and the smallest, the largest and the sum are exact.
struct Latencies: Sendable {

    private var histogram = Histogram<UInt32>(
        highestTrackableValue: longest,
        numberOfSignificantValueDigits: .two
    )

    /// The sum of all times, in nanoseconds.
    private(set) var total: UInt64 = 0

    /// What takes longer counts as an hour.
    private static let longest: UInt64 = 3_600_000_000_000

    /// How many calls there were.
    var count: Int { Int(histogram.totalCount) }

    /// Adds a call.
    ///
    /// - Parameter nanoseconds: How long it took.
    mutating func record(_ nanoseconds: UInt64) {
        total += nanoseconds
        histogram.record(min(nanoseconds, Self.longest))
    }

    /// Adds the calls of others.
    mutating func add(_ other: Latencies) {
        total += other.total
        histogram.add(other.histogram)
    }

    /// The time that a share of the calls did not exceed, in nanoseconds; 0 if there were none.
    ///
    /// - Parameter percentile: The share, from 0 to 100.
    func percentile(_ percentile: Double) -> UInt64 {
        count == 0 ? 0 : histogram.valueAtPercentile(percentile)
    }

    /// The shortest time.
    var min: UInt64 { count == 0 ? 0 : histogram.min }

    /// The longest time.
    var max: UInt64 { count == 0 ? 0 : histogram.maxRecorded }

    /// The mean, in nanoseconds.
    var mean: Double { count == 0 ? 0 : Double(total) / Double(count) }

    /// The buckets that are not empty: the longest time in each, and how many calls it holds.
    var buckets: [[UInt64]] {
        histogram.recordedValues().map { [$0.value, UInt64($0.count)] }
    }

    private func min(_ left: UInt64, _ right: UInt64) -> UInt64 { left < right ? left : right }
}
