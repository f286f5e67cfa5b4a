/// Two runs, operation by operation and size by size.
struct Comparison {

    /// One operation with one number of items in both runs.
    struct Row {
        /// The engine's name; both names if they differ.
        var engine: String
        /// What was measured.
        var operation: String
        /// The number of items.
        var items: Int
        /// What was found out first.
        var a: OperationResult
        /// What was found out later.
        var b: OperationResult

        /// The median relative to what it was.
        var p50: Double { Self.ratio(a.latency.p50, b.latency.p50) }
        /// The 99th percentile relative to what it was.
        var p99: Double { Self.ratio(a.latency.p99, b.latency.p99) }
        /// The throughput relative to what it was.
        var throughput: Double { a.itemsPerSecond > 0 ? b.itemsPerSecond / a.itemsPerSecond : 1 }

        /// Whether there are enough slices to tell a change from noise.
        var hasEnoughSlices: Bool { min(a.slices.count, b.slices.count) >= Budget.slices }

        /// What can be said of the medians.
        var change: Change {
            guard hasEnoughSlices else { return .none }
            // Less is not worth a mark, and is in the order of the error of the histogram.
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

        /// Whether the median is beyond noise above so many times what it was.
        func isSlower(than limit: Double) -> Bool {
            change == .slower && p50 > limit
        }

        private static func ratio(_ a: UInt64, _ b: UInt64) -> Double {
            // A call that took less than the clock can tell counts as a nanosecond.
            Double(max(1, b)) / Double(max(1, a))
        }
    }

    /// What can be said of a difference.
    enum Change: String {
        /// Beyond noise, B takes less time.
        case faster
        /// Beyond noise, B takes more time.
        case slower
        /// It may be noise.
        case none
    }

    /// What is in both.
    var rows: [Row] = []
    /// Why the two should not be compared, or only with care.
    var notes: [String] = []

    /// Compares results.
    ///
    /// - Throws: A ``ProfilerError`` if nothing is in both.
    init(_ a: Profile, _ b: Profile) throws {
        notes = Self.differences(a, b)
        let isOneEach = a.engines.count == 1 && b.engines.count == 1
        for before in a.engines {
            guard let after = isOneEach ? b.engines[0] : b.engines.first(where: { $0.name == before.name }) else {
                notes.append("\(before.name) is only in A.")
                continue
            }
            let name = before.name == after.name ? before.name : "\(before.name) → \(after.name)"
            notes += Self.lacking(in: after, of: before, name, "A") + Self.lacking(in: before, of: after, name, "B")
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
                "\(few) of \(rows.count) rows have fewer than \(Budget.slices) slices in A or B, so no change of theirs is marked."
            )
        }
        guard !rows.isEmpty else {
            throw ProfilerError(
                "The two have no engine, operation and number of items in common, so there is nothing to compare.")
        }
    }

    /// What only one of two engines was measured with: whole sizes, whole operations, and what else is missing.
    private static func lacking(
        in other: EngineResult,
        of engine: EngineResult,
        _ name: String,
        _ file: String
    ) -> [String] {
        func sizes(_ engine: EngineResult, _ operation: String) -> [Int] {
            engine.measurements(of: operation).map(\.items)
        }
        let otherSizes = Set(other.operations.flatMap { sizes(other, $0) })
        let lonely = Set(engine.operations.flatMap { sizes(engine, $0) }).subtracting(otherSizes)
        var notes = lonely.sorted().map { "\(name): \(Quantity.whole($0)) items are only in \(file)." }
        for operation in engine.operations {
            let missing = Set(sizes(engine, operation)).subtracting(sizes(other, operation)).subtracting(lonely)
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
        note("Optimisation", "\(a.environment.isOptimised)", "\(b.environment.isOptimised)")
        note("Value size", "\(a.settings.valueBytes)", "\(b.settings.valueBytes)")
        note("Batch", "\(a.settings.batch)", "\(b.settings.batch)")
        note("Concurrency", "\(a.settings.concurrency)", "\(b.settings.concurrency)")
        note("Durability", a.settings.durability.rawValue, b.settings.durability.rawValue)
        return notes
    }
}
