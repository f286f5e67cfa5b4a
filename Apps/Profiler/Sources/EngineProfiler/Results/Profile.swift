import Foundation

/// The results of a run, as written to a file.
///
/// The README of this package describes the format. Times are in nanoseconds, sizes in bytes.
struct Profile: Codable, Equatable, Sendable {
    /// The name of the format.
    var format = Self.formatName
    /// The version of the format.
    var version = Self.currentVersion
    /// When the run began.
    var date: Date
    /// The machine and software that the results depend on.
    var environment: Environment
    /// The options of the run.
    var settings: Settings
    /// The results of each engine.
    var engines: [EngineResult]

    /// The name of the format, which distinguishes a file of results from other JSON.
    static let formatName = "emporium-profile"
    /// The version of the format that this profiler writes.
    static let currentVersion = 1
}

/// The options of a run.
struct Settings: Codable, Equatable, Sendable {
    /// The numbers of items.
    var sizes: [Int]
    /// The size of a value in bytes.
    var valueBytes: Int
    /// The number of items in a batch.
    var batch: Int
    /// The number of concurrent workers.
    var concurrency: Int
    /// The time for each operation in seconds; `nil` if calls were counted.
    var seconds: Double?
    /// The number of calls of each operation; `nil` if a time was given.
    var repetitions: Int?
    /// The durability of a finished write.
    var durability: Durability
    /// The seed of the items and of their order.
    var seed: UInt64
    /// Whether the sizes and times were small, so that the results are rough.
    var isQuick: Bool
}

/// The results of an engine.
struct EngineResult: Codable, Equatable, Sendable {
    /// The name in reports.
    var name: String
    /// The address that the user gave.
    var address: String
    /// The results for each number of items.
    var sizes: [SizeResult]
}

/// The results of an engine with a number of items.
struct SizeResult: Codable, Equatable, Sendable {
    /// The number of items.
    var items: Int
    /// The memory of the process.
    var memory: MemoryUse?
    /// The space of the items on disk; `nil` if there is none.
    var medium: DiskUse?
    /// The measurements.
    var measurements: [OperationResult]
}

/// The resident memory of the process around a piece of work.
struct MemoryUse: Codable, Equatable, Sendable {
    /// The value before.
    var before: Int
    /// The peak; `nil` where the system does not provide it.
    var peak: Int?
    /// The value after.
    var after: Int
}

/// The measurement of an operation.
struct OperationResult: Codable, Equatable, Sendable {
    /// The name of the operation. It is text, because results of later versions may contain other operations.
    var operation: String
    /// The number of items in each call.
    var itemsPerCall: Int
    /// The number of timed calls.
    var calls: Int
    /// The number of items that all workers together handled in a second.
    var itemsPerSecond: Double
    /// The latencies of the calls.
    var latency: LatencySummary
    /// The slices of the measurement.
    var slices: [Slice]
    /// The longest time and the number of calls of each bucket; buckets without calls are left out.
    var histogram: [[UInt64]]
    /// The memory of the process.
    var memory: MemoryUse?

    /// A slice of a measurement.
    struct Slice: Codable, Equatable, Sendable {
        /// The median.
        var p50: UInt64
        /// The 99th percentile.
        var p99: UInt64
        /// The number of items handled in a second.
        var itemsPerSecond: Double
    }
}

/// The latencies of calls.
struct LatencySummary: Codable, Equatable, Sendable {
    /// The shortest.
    var min: UInt64
    /// The mean.
    var mean: Double
    /// The median.
    var p50: UInt64
    /// The 90th percentile.
    var p90: UInt64
    /// The 99th percentile.
    var p99: UInt64
    /// The 99.9th percentile.
    var p999: UInt64
    /// The longest.
    var max: UInt64

    /// Summarizes latencies.
    init(_ latencies: Latencies) {
        min = latencies.min
        mean = latencies.mean
        p50 = latencies.percentile(50)
        p90 = latencies.percentile(90)
        p99 = latencies.percentile(99)
        p999 = latencies.percentile(99.9)
        max = latencies.max
    }
}

extension OperationResult {

    /// Summarizes a measurement.
    init(
        _ operation: Operation, itemsPerCall: Int, workers: Int, _ outcome: Measuring.Outcome, memory: MemoryUse?
    ) {
        // The workers' time outside of calls does not count, so together they make this number of calls in the time of
        // one.
        func rate(_ latencies: Latencies) -> Double {
            Double(itemsPerCall * latencies.count * workers) / (Double(max(1, latencies.total)) / 1e9)
        }
        self.operation = operation.rawValue
        self.itemsPerCall = itemsPerCall
        calls = outcome.latencies.count
        itemsPerSecond = rate(outcome.latencies)
        latency = LatencySummary(outcome.latencies)
        slices = outcome.slices.map {
            Slice(p50: $0.percentile(50), p99: $0.percentile(99), itemsPerSecond: rate($0))
        }
        histogram = outcome.latencies.buckets
        self.memory = memory
    }

    /// The median cost of one item, in nanoseconds.
    var costPerItem: Double { Double(latency.p50) / Double(max(1, itemsPerCall)) }
}

extension EngineResult {

    /// The measured operations in the order of ``Operation``; those of other versions are last.
    var operations: [String] { EngineProfiler.operations(in: [self]) }

    /// The measurements of an operation by number of items.
    func measurements(of operation: String) -> [(items: Int, measurement: OperationResult)] {
        sizes.flatMap { size in
            size.measurements.filter { $0.operation == operation }.map { (size.items, $0) }
        }
    }

    /// The growth of an operation's median cost: of a call if it handles all items, otherwise of one item.
    func growth(of operation: String) -> GrowthFit? {
        let isAboutAll = Operation(rawValue: operation)?.isAboutAllItems ?? false
        return GrowthFit(
            measurements(of: operation).map {
                ($0.items, isAboutAll ? Double($0.measurement.latency.p50) : $0.measurement.costPerItem)
            })
    }
}

/// The operations that any of the engines was measured with, in the order of ``Operation``; those of other versions are
/// last.
func operations(in engines: [EngineResult]) -> [String] {
    let found = engines.flatMap(\.sizes).flatMap(\.measurements).map(\.operation)
    let known = Operation.allCases.map(\.rawValue).filter(found.contains)
    return known + Set(found).subtracting(known).sorted()
}
