import BenchHarness
import Bodega
import Foundation

extension ServerMetrics {
    static let streams = [
        Metric("server.streams.idle", baseline: "20 KB a stream", maximum: 1) { try await idleStreams($0) },
        Metric("server.streams.p99", baseline: "50 ms from a commit to the stream", maximum: 1) {
            try await filteredStreams($0)
        },
        Metric("server.streams.routing", baseline: "10 streams with other filters", maximum: 1.5) {
            try await routing($0)
        },
    ]

    /// The number of streams of one client, as its limit is by default.
    private static let streamsOfClient = 100

    /// The memory of the server for streams without changes.
    private static func idleStreams(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(10_000)
        try OpenFiles.reserve(count)
        return try await withServer(plan, items: 1_000) { child, _ in
            let tokens = try (0..<(count + streamsOfClient - 1) / streamsOfClient).map { number in
                try child.token(owner: ServedNotes.owner(number))
            }
            let warmUp = EventLoad()
            try await warmUp.open(tokens.map { $0 }, port: child.port)
            try await warmUp.close()
            let before = try child.memory()
            let load = EventLoad()
            try await load.open((0..<count).map { tokens[$0 / streamsOfClient] }, port: child.port)
            let after = try child.memory()
            // Each of them is open.
            _ = try child.write(1_000, owner: ServedNotes.owner(0))
            let arrivals = try await load.next(min(count, streamsOfClient))
            try verify(
                Set(arrivals.map(\.stream)), equals: Set(0..<min(count, streamsOfClient)),
                "streams with the change")
            try await load.close()
            return Outcome(items: count, oursBytes: after - before, baselineBytes: count * 20_000)
        }
    }

    /// The time from a commit until the stream has it whose filter it matches.
    private static func filteredStreams(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(1_000)
        let changes = plan.size(1_000)
        return try await withStreams(plan, count) { child, load in
            var commits: [Int: UInt64] = [:]
            let start = ContinuousClock.now
            for number in 0..<changes {
                try await Task.sleep(until: start + .milliseconds(10) * number)
                let item = 1_000 + number
                commits[item] = try child.write(item, owner: ServedNotes.owner(number * 7 % count))
            }
            let arrivals = try await load.next(changes)
            let times = try arrivals.map { arrival in
                try verify(arrival.stream, equals: (arrival.item - 1_000) * 7 % count, "the stream of a change")
                guard let commit = commits.removeValue(forKey: arrival.item) else {
                    throw VerificationFailure("a change has arrived twice")
                }
                return Duration.nanoseconds(max(0, Int64(arrival.moment) - Int64(commit)))
            }
            return Outcome(items: changes, ours: times.percentile(0.99), baseline: .milliseconds(50))
        }
    }

    /// The processor time of the server for a change that matches the filter of none of the streams.
    private static func routing(_ plan: Plan) async throws -> Outcome {
        let changes = plan.size(1_000)
        let few = min(10, plan.size(1_000))
        return try await withStreams(plan, plan.size(1_000)) { many, _ in
            try await withStreams(plan, few) { few, _ in
                func time(_ child: ServingChild) throws -> Duration {
                    let start = try child.processorTime()
                    for number in 0..<changes { _ = try child.write(1_000 + number, owner: "another") }
                    return try child.processorTime() - start
                }
                return try await compare(
                    items: changes, runs: plan.runs, ours: { try time(many) }, baseline: { try time(few) })
            }
        }
    }

    /// Calls a closure with streams that each have another client and filter.
    private static func withStreams<Result>(
        _ plan: Plan, _ count: Int, _ work: (ServingChild, EventLoad) async throws -> Result
    ) async throws -> Result {
        try await withServer(plan, items: 1_000) { child, _ in
            let tokens = try (0..<count).map { try child.token(owner: ServedNotes.owner($0)) }
            let load = EventLoad()
            do {
                try await load.open(tokens, port: child.port)
                let result = try await work(child, load)
                try await load.close()
                return result
            } catch {
                try await load.close()
                throw error
            }
        }
    }
}
