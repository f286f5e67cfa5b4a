/// Measures one operation.
///
/// Each worker makes its next call when the last one has returned. So what is measured is the time that calls take, not
/// the time that requests would have waited that arrive at a fixed rate ("coordinated omission").
struct Measuring: Sendable {
    /// How much is measured.
    let budget: Budget
    /// What times the calls.
    let stopwatch: Stopwatch

    /// What was found out.
    struct Outcome: Sendable {
        /// All calls.
        var latencies = Latencies()
        /// The calls, slice by slice; none is empty.
        var slices: [Latencies] = []
    }

    /// Measures, after a warm-up that does not count.
    ///
    /// - Parameters:
    ///   - workloads: One for each worker. They are afterwards as the calls have left them.
    ///   - report: Is told all calls so far, several times a second if calls don't take longer.
    /// - Throws: A ``CallFailure``, or what else stopped it.
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

    /// Lets all workers work at the same time.
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

    /// When a budget is used up.
    private static func condition(_ budget: Budget) -> (Latencies) -> Bool {
        switch budget {
        case .calls(let calls):
            return { $0.count >= calls }
        case .time(let duration):
            let limit = duration.nanoseconds
            // What is not timed, such as checking and restoring, can take much longer than what is.
            let end = ContinuousClock.now + duration * 4
            return { $0.total >= limit && $0.count > 0 || $0.count > 0 && ContinuousClock.now >= end }
        }
    }
}
