import Histogram

/// The latencies of calls in a histogram of fixed size.
///
/// The histogram is Gil Tene's High Dynamic Range histogram, see http://hdrhistogram.org. With two significant digits
/// the error of a time is at most 1 %. The smallest and largest times and the sum are exact.
struct Latencies: Sendable {

    private var histogram = Histogram<UInt32>(
        highestTrackableValue: longest,
        numberOfSignificantValueDigits: .two
    )

    /// The sum of all times, in nanoseconds.
    private(set) var total: UInt64 = 0

    /// The maximum; longer times are recorded as one hour.
    private static let longest: UInt64 = 3_600_000_000_000

    /// The number of calls.
    var count: Int { Int(histogram.totalCount) }

    /// Adds a call.
    ///
    /// - Parameter nanoseconds: The latency of the call.
    mutating func record(_ nanoseconds: UInt64) {
        total += nanoseconds
        histogram.record(min(nanoseconds, Self.longest))
    }

    /// Adds the calls of another histogram.
    mutating func add(_ other: Latencies) {
        total += other.total
        histogram.add(other.histogram)
    }

    /// A percentile in nanoseconds; 0 if there are no calls.
    ///
    /// - Parameter percentile: The percentile, from 0 to 100.
    func percentile(_ percentile: Double) -> UInt64 {
        count == 0 ? 0 : histogram.valueAtPercentile(percentile)
    }

    /// The shortest time.
    var min: UInt64 { count == 0 ? 0 : histogram.min }

    /// The longest time.
    var max: UInt64 { count == 0 ? 0 : histogram.maxRecorded }

    /// The mean, in nanoseconds.
    var mean: Double { count == 0 ? 0 : Double(total) / Double(count) }

    /// The buckets that are not empty, each as its longest time and its number of calls.
    var buckets: [[UInt64]] {
        histogram.recordedValues().map { [$0.value, UInt64($0.count)] }
    }

    private func min(_ left: UInt64, _ right: UInt64) -> UInt64 { left < right ? left : right }
}
