import Bodega

/// Measures the time of calls, in nanoseconds.
struct Stopwatch: Sendable {

    /// The cost of reading the clock twice, which is subtracted from each time.
    let overhead: UInt64

    /// Creates a stopwatch with a known overhead.
    init(overhead: UInt64) {
        self.overhead = overhead
    }

    /// Measures the overhead: the median time of an empty call.
    static func calibrated() async throws -> Stopwatch {
        let bare = Stopwatch(overhead: 0)
        var times: [UInt64] = []
        for _ in 0..<10_000 { times.append(try await bare.time {}.time) }
        return Stopwatch(overhead: times.sorted()[times.count / 2])
    }

    /// Measures a call.
    ///
    /// - Parameters:
    ///   - key: The key that the call concerns, if any.
    ///   - work: The call.
    /// - Throws: A ``CallFailure`` with the key if the call fails.
    func time<Result>(
        _ key: CacheKey? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Result
    ) async throws -> (time: UInt64, result: Result) {
        let start = ContinuousClock.now
        let result: Result
        do {
            result = try await work()
        } catch {
            throw CallFailure(key: key, message: "the call threw \(error)")
        }
        let time = (ContinuousClock.now - start).nanoseconds
        return (time > overhead ? time - overhead : 0, result)
    }
}

extension Duration {
    /// The duration in nanoseconds; zero if the duration is negative.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}
