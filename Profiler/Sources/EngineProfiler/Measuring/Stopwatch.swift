import Bodega

/// Times calls, in nanoseconds.
struct Stopwatch: Sendable {

    /// What looking at the clock twice costs, which is taken off each time.
    let overhead: UInt64

    /// A stopwatch that takes a known overhead off.
    init(overhead: UInt64) {
        self.overhead = overhead
    }

    /// Finds out what timing itself costs: the median of many times of doing nothing.
    static func calibrated() async throws -> Stopwatch {
        let bare = Stopwatch(overhead: 0)
        var times: [UInt64] = []
        for _ in 0..<10_000 { times.append(try await bare.time {}.time) }
        return Stopwatch(overhead: times.sorted()[times.count / 2])
    }

    /// Times a call.
    ///
    /// - Parameters:
    ///   - key: The key that the call is about, if it is one.
    ///   - work: The call.
    /// - Throws: A ``CallFailure`` that names the key, if the call fails.
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
    /// The duration in nanoseconds; zero if it is negative.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}
