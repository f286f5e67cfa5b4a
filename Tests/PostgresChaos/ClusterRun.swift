#if Postgres
import Bodega
import BodegaPostgres
import BodegaTesting
import Foundation
import TestSupport

/// Injects faults into a cluster under the load of several processes. After each fault the processes check what they
/// read.
struct ClusterRun {
    private let options: Options
    private let keeper: Keeper
    /// The maximum time in seconds until stores agree with the database.
    private static let limit = 10.0

    init(_ options: Options, _ keeper: Keeper) {
        (self.options, self.keeper) = (options, keeper)
    }

    /// The totals of all rounds.
    private struct Totals {
        var slowest = 0.0
        var longestOutage = 0.0
        var problems: [String] = []
        /// Records and prints violations.
        mutating func note(_ found: [String]) {
            for problem in found { report("    VIOLATION \(problem)") }
            problems += found
        }
        /// The latest numbers of each process: operations, failed operations, and stores whose order of items differs
        /// from the database's.
        var counts: [String: [Int]] = [:]

        func sum(_ index: Int) -> Int { counts.values.reduce(0) { $0 + $1[index] } }
    }

    /// Runs all rounds.
    ///
    /// - Returns: The violations.
    func run() async throws -> [String] {
        report("A cluster of three with synchronous replication, \(options.rounds) faults: --seed \(options.seed)")
        let cluster = try await Cluster(keeper: keeper)
        let firstTimeline = try await cluster.timeline()
        report("The cluster is complete. \(options.processes) processes with 3 stores each begin to write.")
        var random = SeededGenerator(seed: options.seed)
        let loads = try (0..<options.processes).map { number in
            let name = String(UnicodeScalar(UInt8(ascii: "A") + UInt8(number % 26)))
            return try LoadProcess(name, url: cluster.url, seed: options.seed &+ UInt64(number))
        }
        for load in loads { _ = try await load.answer { $0 == "ready" } }
        var totals = Totals()
        for (number, fault) in ClusterFault.order(options.rounds, using: &random).enumerated() {
            let length = Duration.milliseconds(Int.random(in: 500...12_000, using: &random))
            try await Task.sleep(for: .milliseconds(Int.random(in: 1_000...4_000, using: &random)))
            report("\(number + 1). \(fault.rawValue)")
            let began = ContinuousClock.now
            try await fault.happen(to: cluster, length: length, clients: loads.map(\.identifier))
            let lasted = (ContinuousClock.now - began) / .seconds(1)
            let outage = try await awaitWrites(to: cluster)
            report("    lasted \(lasted.short) s; \(outage.short) s later a write was accepted")
            totals.longestOutage = max(totals.longestOutage, outage)
            try await check(loads, after: "\(number + 1). \(fault.rawValue)", &totals)
            totals.note(try await writesAppliedTwice(cluster))
            if !totals.problems.isEmpty, let folder = options.logs {
                try keeper.copyLogs(to: URL(fileURLWithPath: folder))
                // The identifiers of requests begin with the time.
                let log = try await cluster.sql(
                    "SELECT id, part, request, origin, transaction, written, removed FROM emporium_changes ORDER BY id")
                try Data(log.utf8).write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(number + 1).log"))
            }
            for load in loads { try load.say("resume") }
            for load in loads { _ = try await load.answer { $0 == "resumed" } }
            try await cluster.waitUntilComplete()
        }
        let failovers = try await cluster.timeline() - firstTimeline
        for load in loads { try load.end() }
        report(
            """
            \(options.rounds) faults, the leader changed \(failovers) times. \(totals.sum(0) - totals.sum(1)) writes \
            were acknowledged, \(totals.sum(1)) threw. Stores agreed with the database within \(totals.slowest.short) \
            s; the longest wait for a write after a fault was \(totals.longestOutage.short) s. \
            \(totals.problems.count) violations.
            """
        )
        return totals.problems
    }

    /// Waits until the cluster accepts a write of a client.
    ///
    /// - Returns: The time that took, in seconds.
    private func awaitWrites(to cluster: Cluster) async throws -> Double {
        let began = ContinuousClock.now
        try await waitUntil("the cluster accepted a write", within: .seconds(180)) {
            do {
                let engine = try await PostgresStorageEngine(
                    connecting: cluster.url, collection: "probe", options: .init(connectTimeout: 2, timeout: 4))
                defer { engine.database.disconnect() }
                try await engine.write(Data("1".utf8), key: CacheKey("probe"))
                return true
            } catch is StorageError {
                return false
            }
        }
        return (ContinuousClock.now - began) / .seconds(1)
    }

    private func check(_ loads: [LoadProcess], after fault: String, _ totals: inout Totals) async throws {
        let began = ContinuousClock.now
        for load in loads { try load.say("pause") }
        for load in loads { _ = try await load.answer { $0 == "paused" } }
        let pause = (ContinuousClock.now - began) / .seconds(1)
        for load in loads { try load.say("check") }
        var slowest = 0.0
        for load in loads {
            let (answer, before) = try await load.answer { $0.hasPrefix("agreed") || $0.hasPrefix("disagreed") }
            totals.note(before.filter { $0.hasPrefix("violation") }.map { "\(fault): \(load.name): \($0)" })
            let fields = answer.split(separator: " ")
            guard fields.first == "agreed", fields.count == 5, let seconds = Double(fields[1]) else {
                totals.note(["\(fault): \(load.name): \(answer)"])
                continue
            }
            slowest = max(slowest, seconds)
            totals.counts[load.name] = fields.suffix(3).compactMap { Int($0) }
            if seconds > Self.limit {
                totals.note(["\(fault): \(load.name): stores agreed after \(seconds.short) s only"])
            }
        }
        totals.slowest = max(totals.slowest, slowest)
        report(
            """
            \(String(repeating: " ", count: 4))operations ended within \(pause.short) s, stores agreed after \
            \(slowest.short) s; \(totals.sum(0) - totals.sum(1)) writes so far, \(totals.sum(1)) threw, \
            \(totals.problems.count) violations
            """
        )
        if totals.sum(2) > 0 { report("    \(totals.sum(2)) stores have the items in another order than the database") }
    }

    /// Items that are written only once, but occur twice in the log without a removal in between. A store may undo a
    /// failed write and retry it.
    private func writesAppliedTwice(_ cluster: Cluster) async throws -> [String] {
        let answer = try await cluster.sql(
            """
            SELECT DISTINCT encode(key, 'escape') FROM (
                SELECT key, is_written, lag(is_written) OVER (PARTITION BY key ORDER BY id, is_written) AS was_written
                FROM (
                    SELECT id, key, true AS is_written FROM emporium_changes, unnest(written) AS key
                    UNION ALL
                    SELECT id, key, false FROM emporium_changes, unnest(removed) AS key
                ) AS changes
                WHERE encode(key, 'escape') LIKE '%-once-%'
            ) AS changes
            WHERE is_written AND was_written
            """
        )
        return answer.split(separator: "\n").map { "\($0) was applied twice" }
    }
}

extension Double {
    fileprivate var short: String { String(format: "%.1f", self) }
}
#endif
