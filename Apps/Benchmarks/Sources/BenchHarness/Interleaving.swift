/// Runs the sides in turn (A B A B …), so that a temporary slowdown of the machine affects all of them.
///
/// The first turn of each side is a warm-up. A side times itself, so preparation and verification are excluded.
///
/// - Parameters:
///   - runs: The number of measured turns of each side.
///   - sides: The sides. Each returns the time of its measured part.
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

/// Runs our side and the baseline in turn, see ``interleavedMedians(runs:isolation:_:)``.
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
    /// The smallest value that the given share of the values does not exceed.
    ///
    /// - Precondition: The array is not empty.
    package func percentile(_ part: Double) -> Duration {
        sorted()[Swift.max(0, Int((Double(count) * part).rounded(.up)) - 1)]
    }

    /// The middle value, or the mean of the two middle values of an even number.
    ///
    /// - Precondition: The array is not empty.
    package var median: Duration {
        let sorted = sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
