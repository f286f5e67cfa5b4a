/// Runs the sides in turn (A B A B …), so that whatever slows the machine for a while slows all of them.
///
/// The first turn of each side warms up and does not count. A side times itself, so that what it prepares and verifies
/// stays out of the number.
///
/// - Parameters:
///   - runs: How many turns of each side count.
///   - sides: What to run. Each returns the time that its measured part took.
/// - Returns: The median of each side.
package func interleavedMedians(
    runs: Int,
    isolation: isolated (any Actor)? = #isolation,
    _ sides: [() async throws -> Duration]
) async throws -> [Duration] {
    var times = [[Duration]](repeating: [], count: sides.count)
    for turn in 0...runs {
        for (index, side) in sides.enumerated() {
            let time = try await side()
            if turn > 0 { times[index].append(time) }
        }
    }
    return times.map { $0.median }
}

/// Runs ours and the baseline in turn, see ``interleavedMedians(runs:isolation:_:)``.
package func compare(
    items: Int,
    runs: Int,
    isolation: isolated (any Actor)? = #isolation,
    ours: @escaping () async throws -> Duration,
    baseline: @escaping () async throws -> Duration
) async throws -> Outcome {
    let medians = try await interleavedMedians(runs: runs, [ours, baseline])
    return Outcome(items: items, ours: medians[0], baseline: medians[1])
}

extension [Duration] {
    /// The smallest value that a part of the values is not above.
    ///
    /// - Precondition: The array is not empty.
    package func percentile(_ part: Double) -> Duration {
        sorted()[Swift.max(0, Int((Double(count) * part).rounded(.up)) - 1)]
    }

    /// The middle value; of an even number of values, the mean of the two in the middle.
    ///
    /// - Precondition: The array is not empty.
    package var median: Duration {
        let sorted = sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
