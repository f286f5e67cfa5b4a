import Bodega
import Boutique
import Foundation

/// Profiles engines in turn for each number of items.
struct Session: Sendable {
    /// The plan.
    let plan: Plan
    /// The temporary data.
    let temporary: TemporaryData
    /// The stopwatch for the calls.
    let stopwatch: Stopwatch
    /// Receives the progress.
    let report: @Sendable (ProgressEvent) -> Void

    /// Runs the plan.
    ///
    /// - Throws: An ``EngineFailure`` if an engine fails or returns a wrong result.
    func run() async throws -> [EngineResult] {
        var results = plan.subjects.map { EngineResult(name: $0.name, address: $0.address, sizes: []) }
        // All engines are measured with one size before the next size, so that compared measurements are close in time.
        for items in plan.sizes {
            for (index, subject) in plan.subjects.enumerated() {
                results[index].sizes.append(try await profile(subject, items: items))
            }
        }
        return results
    }

    private func profile(_ subject: Subject, items: Int) async throws -> SizeResult {
        let data = Dataset(count: items, valueBytes: plan.valueBytes, seed: plan.seed)
        var result = SizeResult(items: items, memory: nil, medium: nil, measurements: [])
        let ofEngines = plan.operations.filter { $0.group != .store }
        let ofTheStore = plan.operations.filter { $0.group == .store }
        if !ofEngines.isEmpty {
            let place = try temporary.take(subject)
            let run = EngineRun(session: self, subject: subject, place: place, data: data)
            try await run.measure(ofEngines, into: &result)
            try place.clear()
        }
        if !ofTheStore.isEmpty {
            let place = try temporary.take(subject)
            let run = StoreRun(session: self, subject: subject, place: place, data: data)
            try await run.measure(ofTheStore, into: &result)
            try place.clear()
        }
        return result
    }

    /// The items of each worker.
    func shares(of data: Dataset) -> [Share] {
        (0..<plan.concurrency).map { Share(data, worker: $0, of: plan.concurrency, seed: plan.seed) }
    }

    /// Measures an operation.
    ///
    /// - Returns: The measurement, and the workers' shares after it.
    func measure<Work: Workload>(
        _ operation: Operation,
        _ subject: Subject,
        items: Int,
        _ workloads: [Work]
    ) async throws -> (OperationResult, [Share]) {
        report(.measuring(engine: subject.name, items: items, operation, soFar: Latencies()))
        let memory = MemoryMark()
        var workloads = workloads
        let outcome: Measuring.Outcome
        do {
            outcome = try await Measuring(budget: plan.budget, stopwatch: stopwatch).measure(&workloads) {
                report(.measuring(engine: subject.name, items: items, operation, soFar: $0))
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw EngineFailure(engine: subject.name, operation: operation.rawValue, items: items, error)
        }
        let measurement = OperationResult(
            operation, itemsPerCall: workloads[0].itemsPerCall, workers: workloads.count, outcome, memory: memory.use())
        report(.measured(engine: subject.name, items: items, measurement))
        return (measurement, workloads.map(\.share))
    }

    /// Runs a step that is not measured, and wraps its errors.
    func prepare<Result>(
        _ what: String,
        _ subject: Subject,
        items: Int,
        _ work: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await work()
        } catch let error as EngineFailure {
            throw error
        } catch {
            throw EngineFailure(engine: subject.name, operation: what, items: items, error)
        }
    }
}

/// The memory before a piece of work.
struct MemoryMark {
    private let before: Int?
    private let hasPeak: Bool

    /// Returns freed memory to the system and resets the peak.
    init() {
        ResidentMemory.releaseFreed()
        hasPeak = ResidentMemory.resetPeak()
        before = ResidentMemory.now()
    }

    /// The memory after the work; `nil` where the system does not provide it.
    func use() -> MemoryUse? {
        guard let before, let after = ResidentMemory.now() else { return nil }
        return MemoryUse(before: before, peak: hasPeak ? ResidentMemory.peak() : nil, after: after)
    }
}
