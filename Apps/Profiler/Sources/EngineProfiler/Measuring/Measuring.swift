/// Measures one operation.
///
/// Each worker makes its next call when the last one has returned. The result is the time of the calls, without the
/// time that requests at a fixed rate would have waited ("coordinated omission").
struct Measuring: Sendable {
    /// The amount of measuring.
    let budget: Budget
    /// The stopwatch for the calls.
    let stopwatch: Stopwatch

    /// The result of a measurement.
    struct Outcome: Sendable {
        /// All calls.
        var latencies = Latencies()
        /// The calls of each slice; no slice is empty.
        var slices: [Latencies] = []
    }

    /// Measures the operation after a warm-up.
    ///
    /// - Parameters:
    ///   - workloads: One workload for each worker, updated by the calls.
    ///   - report: Receives all calls so far, several times a second unless calls take longer.
    /// - Throws: A ``CallFailure``, or another error that ended the measurement.
    func measure<Work: Workload>(
        _ workloads: inout [Work],
        report: (Latencies) -> Void
    ) async throws -> Outcome {
        let count = workloads.count
        for piece in budget.warmUp.pieces { _ = try await run(&workloads) { _ in piece } }
        var outcome = Outcome()
        for slice in 0..<Budget.slices {
            let parts = (0..<count).map { budget.part(slice: slice, worker: $0, of: count).pieces }
            var latencies = Latencies()
            for piece in parts[0].indices {
                latencies.add(try await run(&workloads) { parts[$0][piece] })
                var all = outcome.latencies
                all.add(latencies)
                report(all)
            }
            guard latencies.count > 0 else { continue }
            outcome.latencies.add(latencies)
            outcome.slices.append(latencies)
        }
        return outcome
    }

    /// Runs all workers concurrently.
    private func run<Work: Workload>(
        _ workloads: inout [Work],
        budget: @Sendable @escaping (Int) -> Budget
    ) async throws -> Latencies {
        if workloads.count == 1 { return try await run(&workloads[0], budget(0)) }
        let stopwatch = self
        let results = try await withThrowingTaskGroup(of: (Int, Work, Latencies).self) { group in
            for (worker, workload) in workloads.enumerated() {
                group.addTask {
                    var workload = workload
                    let latencies = try await stopwatch.run(&workload, budget(worker))
                    return (worker, workload, latencies)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var all = Latencies()
        for (worker, workload, latencies) in results {
            workloads[worker] = workload
            all.add(latencies)
        }
        return all
    }

    /// Makes calls in rounds until the budget is used up.
    private func run(_ workload: inout some Workload, _ budget: Budget) async throws -> Latencies {
        var latencies = Latencies()
        let isUsedUp = Self.condition(budget)
        while !isUsedUp(latencies) {
            var calls = 0
            repeat {
                latencies.record(try await workload.call(stopwatch))
                calls += 1
            } while calls < workload.callsPerRound && !isUsedUp(latencies)
            try await workload.endRound()
            try Task.checkCancellation()
        }
        return latencies
    }

    /// The end of a budget.
    private static func condition(_ budget: Budget) -> (Latencies) -> Bool {
        switch budget {
        case .calls(let calls):
            return { $0.count >= calls }
        case .time(let duration):
            let limit = duration.nanoseconds
            // Untimed work, such as checking and restoring, can take much longer than timed work.
            let end = ContinuousClock.now + duration * 4
            return { $0.total >= limit && $0.count > 0 || $0.count > 0 && ContinuousClock.now >= end }
        }
    }
}
