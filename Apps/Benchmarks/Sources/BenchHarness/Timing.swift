/// Times a piece of work and returns its result for verification after the clock has stopped.
package func timed<Result>(_ work: () throws -> Result) rethrows -> (time: Duration, result: Result) {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try work()
    return (clock.now - start, result)
}

/// Times a piece of asynchronous work and returns its result for verification after the clock has stopped.
package func timed<Result>(
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Result
) async rethrows -> (time: Duration, result: Result) {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try await work()
    return (clock.now - start, result)
}
