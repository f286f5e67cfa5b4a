import Foundation

@testable import EngineProfiler

/// Sample results.
enum Sample {

    /// A measurement whose calls took the given times.
    static func measurement(
        _ operation: String = "read",
        itemsPerCall: Int = 1,
        slices: [[UInt64]]
    ) -> OperationResult {
        var outcome = Measuring.Outcome()
        for slice in slices {
            var latencies = Latencies()
            for time in slice { latencies.record(time) }
            outcome.latencies.add(latencies)
            outcome.slices.append(latencies)
        }
        var measurement = OperationResult(.read, itemsPerCall: itemsPerCall, workers: 1, outcome, memory: nil)
        measurement.operation = operation
        return measurement
    }

    /// A measurement whose slices differ a little around a median.
    static func steady(_ operation: String = "read", around time: UInt64) -> OperationResult {
        measurement(operation, slices: (0..<UInt64(Budget.slices)).map { [time + $0, time + $0, time * 2 + $0] })
    }

    /// An engine with one operation.
    static func engine(_ name: String, _ measurements: [Int: [OperationResult]]) -> EngineResult {
        let sizes = measurements.sorted { $0.key < $1.key }.map { items, measurements in
            SizeResult(
                items: items, memory: MemoryUse(before: 1_000_000, peak: 5_000_000, after: 3_000_000),
                medium: nil, measurements: measurements)
        }
        return EngineResult(name: name, address: name, sizes: sizes)
    }

    /// Results of some engines.
    static func profile(_ engines: [EngineResult]) -> Profile {
        var environment = Environment(folder: FileManager.default.temporaryDirectory, clockOverhead: 40)
        environment.processor = "A processor"
        return Profile(
            date: Date(timeIntervalSince1970: 1_790_000_000),
            environment: environment,
            settings: Settings(
                sizes: [1000, 10_000], valueBytes: 256, batch: 100, concurrency: 1, seconds: 0.5, repetitions: nil,
                durability: .full, seed: 1, isQuick: false),
            engines: engines)
    }
}
