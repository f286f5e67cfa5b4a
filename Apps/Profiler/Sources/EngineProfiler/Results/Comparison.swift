/// A comparison of two runs by engine, operation and size.
struct Comparison {

    /// An operation with a number of items that is in both runs.
    struct Row {
        /// The engine's name; both names if they differ.
        var engine: String
        /// The name of the operation.
        var operation: String
        /// The number of items.
        var items: Int
        /// The measurement of run A.
        var a: OperationResult
        /// The measurement of run B.
        var b: OperationResult

        /// The ratio of the medians, B / A.
        var p50: Double { Self.ratio(a.latency.p50, b.latency.p50) }
        /// The ratio of the 99th percentiles, B / A.
        var p99: Double { Self.ratio(a.latency.p99, b.latency.p99) }
        /// The ratio of the throughputs, B / A.
        var throughput: Double { a.itemsPerSecond > 0 ? b.itemsPerSecond / a.itemsPerSecond : 1 }

        /// Whether there are enough slices to distinguish a change from noise.
        var hasEnoughSlices: Bool { min(a.slices.count, b.slices.count) >= Budget.slices }

        /// The change of the medians.
        var change: Change {
            guard hasEnoughSlices else { return .none }
            // Smaller differences are not marked; they are close to the error of the histogram.
            guard abs(p50 - 1) > 0.03 else { return .none }
            let before = a.slices.map(\.p50)
            let after = b.slices.map(\.p50)
            guard let lowBefore = before.min(), let highBefore = before.max(),
                let lowAfter = after.min(), let highAfter = after.max()
            else { return .none }
            if lowAfter > highBefore { return .slower }
            if highAfter < lowBefore { return .faster }
            return .none
        }

        /// Whether the change is marked and the ratio of the medians is above a limit.
        func isSlower(than limit: Double) -> Bool {
            change == .slower && p50 > limit
        }

        private static func ratio(_ a: UInt64, _ b: UInt64) -> Double {
            // A call that is shorter than the resolution of the clock counts as one nanosecond.
            Double(max(1, b)) / Double(max(1, a))
        }
    }

    /// A change of the median.
    enum Change: String {
        /// B takes less time, beyond noise.
        case faster
        /// B takes more time, beyond noise.
        case slower
        /// The difference may be noise.
        case none
    }

    /// The operations and sizes that are in both runs.
    var rows: [Row] = []
    /// Differences between the runs that limit the comparison.
    var notes: [String] = []

    /// Compares two runs.
    ///
    /// - Throws: A ``ProfilerError`` if the runs have nothing in common.
    init(_ a: Profile, _ b: Profile) throws {
        notes = Self.differences(a, b)
        let isOneEach = a.engines.count == 1 && b.engines.count == 1
        for before in a.engines {
            guard let after = isOneEach ? b.engines[0] : b.engines.first(where: { $0.name == before.name }) else {
                notes.append("\(before.name) is only in A.")
                continue
            }
            let name = before.name == after.name ? before.name : "\(before.name) → \(after.name)"
            notes +=
                Self.unmatchedResults(of: before, in: after, name, "A")
                + Self.unmatchedResults(of: after, in: before, name, "B")
            for operation in operations(in: [before]) {
                let later = after.measurements(of: operation)
                for (items, first) in before.measurements(of: operation) {
                    guard let second = later.first(where: { $0.items == items }) else { continue }
                    rows.append(
                        Row(engine: name, operation: operation, items: items, a: first, b: second.measurement))
                }
            }
        }
        if !isOneEach {
            let names = Set(a.engines.map(\.name))
            for engine in b.engines where !names.contains(engine.name) { notes.append("\(engine.name) is only in B.") }
        }
        let few = rows.count { !$0.hasEnoughSlices }
        if few > 0 {
            notes.append(
                """
                \(few) of \(rows.count) rows have fewer than \(Budget.slices) slices in A or B, so their changes are \
                not marked.
                """
            )
        }
        guard !rows.isEmpty else {
            throw ProfilerError(
                "The files have no engine, operation and number of items in common, so they can't be compared.")
        }
    }

    /// Notes about the sizes and operations that only one of two engines was measured with.
    private static func unmatchedResults(
        of engine: EngineResult,
        in other: EngineResult,
        _ name: String,
        _ file: String
    ) -> [String] {
        func sizes(_ engine: EngineResult, _ operation: String) -> [Int] {
            engine.measurements(of: operation).map(\.items)
        }
        let otherSizes = Set(other.operations.flatMap { sizes(other, $0) })
        let unmatched = Set(engine.operations.flatMap { sizes(engine, $0) }).subtracting(otherSizes)
        var notes = unmatched.sorted().map { "\(name): \(Quantity.whole($0)) items are only in \(file)." }
        for operation in engine.operations {
            let missing = Set(sizes(engine, operation)).subtracting(sizes(other, operation)).subtracting(unmatched)
            if missing.isEmpty { continue }
            if sizes(other, operation).isEmpty {
                notes.append("\(name): \(operation) is only in \(file).")
            } else {
                notes += missing.sorted().map {
                    "\(name): \(operation) with \(Quantity.whole($0)) items is only in \(file)."
                }
            }
        }
        return notes
    }

    private static func differences(_ a: Profile, _ b: Profile) -> [String] {
        var notes: [String] = []
        func note(_ what: String, _ first: String, _ second: String) {
            if first != second { notes.append("\(what) differs: \(first) in A, \(second) in B.") }
        }
        note("Processor", a.environment.processor ?? "unknown", b.environment.processor ?? "unknown")
        note("File system", a.environment.fileSystem ?? "unknown", b.environment.fileSystem ?? "unknown")
        note("Optimization", "\(a.environment.isOptimized)", "\(b.environment.isOptimized)")
        note("Value size", "\(a.settings.valueBytes)", "\(b.settings.valueBytes)")
        note("Batch", "\(a.settings.batch)", "\(b.settings.batch)")
        note("Concurrency", "\(a.settings.concurrency)", "\(b.settings.concurrency)")
        note("Durability", a.settings.durability.rawValue, b.settings.durability.rawValue)
        return notes
    }
}
