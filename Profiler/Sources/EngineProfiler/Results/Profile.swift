import Foundation

/// What a run has found out, as it is written to a file of results.
///
/// The README of this package describes the form. Times are in nanoseconds, sizes in bytes.
struct Profile: Codable, Equatable, Sendable {
    /// The form's name.
    var format = Self.formatName
    /// The form's version.
    var version = Self.currentVersion
    /// When the run began.
    var date: Date
    /// What numbers depend on besides the engines.
    var environment: Environment
    /// What was asked for.
    var settings: Settings
    /// What was found out, engine by engine.
    var engines: [EngineResult]

    /// The name of the form, by which a file of results is told from other JSON.
    static let formatName = "emporium-profile"
    /// The version of the form that is written.
    static let currentVersion = 1
}

/// What a user asked for.
struct Settings: Codable, Equatable, Sendable {
    /// The numbers of items.
    var sizes: [Int]
    /// How many bytes a value has.
    var valueBytes: Int
    /// How many items a call for several handles.
    var batch: Int
    /// How many workers make calls at the same time.
    var concurrency: Int
    /// For how many seconds each operation was measured; `nil` if calls were counted.
    var seconds: Double?
    /// How many calls of each operation were made; `nil` if time was measured.
    var repetitions: Int?
    /// What a finished write has survived.
    var durability: Durability
    /// What the items and their order follow from.
    var seed: UInt64
    /// Whether the sizes and times were small, so that the numbers are rough.
    var isQuick: Bool
}

/// What was found out about an engine.
struct EngineResult: Codable, Equatable, Sendable {
    /// What reports call it.
    var name: String
    /// Where it was, as the user wrote it.
    var address: String
    /// What was found out, size by size.
    var sizes: [SizeResult]
}

/// What was found out about an engine with a number of items.
struct SizeResult: Codable, Equatable, Sendable {
    /// The number of items.
    var items: Int
    /// The memory of the process.
    var memory: MemoryUse?
    /// What the items take up on the medium; `nil` if there is none.
    var medium: MediumUse?
    /// What was measured.
    var measurements: [OperationResult]
}

/// The resident memory of the process around a piece of work.
struct MemoryUse: Codable, Equatable, Sendable {
    /// Before it.
    var before: Int
    /// The most during it; `nil` where the system does not tell.
    var peak: Int?
    /// After it.
    var after: Int
}

/// One operation, measured.
struct OperationResult: Codable, Equatable, Sendable {
    /// What was measured. It is text, as results of later versions can hold others.
    var operation: String
    /// How many items a call handled.
    var itemsPerCall: Int
    /// How many calls were timed.
    var calls: Int
    /// How many items were handled in a second by all workers together.
    var itemsPerSecond: Double
    /// How long calls took.
    var latency: LatencySummary
    /// The same for each slice of the time.
    var slices: [Slice]
    /// The longest time in each bucket, and how many calls it holds; buckets without calls are left out.
    var histogram: [[UInt64]]
    /// The memory of the process.
    var memory: MemoryUse?

    /// A part of a measurement.
    struct Slice: Codable, Equatable, Sendable {
        /// The median.
        var p50: UInt64
        /// What 99 of 100 calls did not exceed.
        var p99: UInt64
        /// How many items were handled in a second.
        var itemsPerSecond: Double
    }
}

/// How long calls took.
struct LatencySummary: Codable, Equatable, Sendable {
    /// The shortest.
    var min: UInt64
    /// The mean.
    var mean: Double
    /// The median.
    var p50: UInt64
    /// What 90 of 100 calls did not exceed.
    var p90: UInt64
    /// What 99 of 100 calls did not exceed.
    var p99: UInt64
    /// What 999 of 1,000 calls did not exceed.
    var p999: UInt64
    /// The longest.
    var max: UInt64

    /// Sums up.
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

    /// Sums up what was measured.
    init(
        _ operation: Operation, itemsPerCall: Int, workers: Int, _ outcome: Measuring.Outcome, memory: MemoryUse?
    ) {
        // Workers do nothing else that counts, so together they make so many calls in the time of one.
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

    /// The operations that were measured, in the order of ``Operation``, those of other versions last.
    var operations: [String] { EngineProfiler.operations(in: [self]) }

    /// What was measured of an operation, size by size.
    func measurements(of operation: String) -> [(items: Int, measurement: OperationResult)] {
        sizes.flatMap { size in
            size.measurements.filter { $0.operation == operation }.map { (size.items, $0) }
        }
    }

    /// How the median cost of an operation grows with the number of items: that of a call that is about all of them,
    /// and that of one item of the others.
    func growth(of operation: String) -> GrowthFit? {
        let isAboutAll = Operation(rawValue: operation)?.isAboutAllItems ?? false
        return GrowthFit(
            measurements(of: operation).map {
                ($0.items, isAboutAll ? Double($0.measurement.latency.p50) : $0.measurement.costPerItem)
            })
    }
}

/// The operations that were measured of any of some engines, in the order of ``Operation``, those of other versions last.
func operations(in engines: [EngineResult]) -> [String] {
    let found = engines.flatMap(\.sizes).flatMap(\.measurements).map(\.operation)
    let known = Operation.allCases.map(\.rawValue).filter(found.contains)
    return known + Set(found).subtracting(known).sorted()
}
