import BenchHarness
import Bodega
import BodegaTesting
import Foundation

extension Metrics {
    static let feed = deliveries("feed.sqlite") { plan, measure in
        try await plan.scratch.withFolder { folder in
            try await measure("sqlite:\(folder.appendingPathComponent("data.sqlite3").path)")
        }
    }

    /// Rows for the time from the call that writes an item until another process receives the change.
    ///
    /// The other process is asleep at that time: items are written one at a time, with random pauses in between.
    ///
    /// - Parameters:
    ///   - name: The prefix of the rows' names.
    ///   - withStore: Calls a closure with the address of an unused store.
    static func deliveries(
        _ name: String,
        withStore: @escaping @Sendable (Plan, (String) async throws -> Outcome) async throws -> Outcome
    ) -> [Metric] {
        let parts: [(name: String, part: Double, maximum: Double?)] = [("p50", 0.5, 1), ("p99", 0.99, nil)]
        return parts.map { part in
            Metric(
                "\(name).\(part.name)", baseline: "50 ms, which half of all must not exceed", maximum: part.maximum
            ) { plan in
                try await withStore(plan) { address in
                    let times = try await deliveryTimes(through: address, count: plan.size(500))
                    let time = times.percentile(part.part)
                    return Outcome(items: times.count, ours: time, baseline: .milliseconds(50))
                }
            }
        }
    }

    private static func deliveryTimes(through address: String, count: Int) async throws -> [Duration] {
        let engine = try await FollowingChild.openObservable(address)
        let child = try FollowingChild(address)
        defer { child.end() }
        var random = SeededGenerator(seed: 1)
        var times: [Duration] = []
        for item in Items.make(count + warmUp) {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...50, using: &random)))
            let start = FollowingChild.now
            try await engine.write(item.data, key: item.key)
            times.append(.nanoseconds(Int64(try child.moment(of: item.key)) - Int64(start)))
        }
        return Array(times.dropFirst(warmUp))
    }

    /// The number of deliveries of the warm-up.
    private static let warmUp = 5
}
