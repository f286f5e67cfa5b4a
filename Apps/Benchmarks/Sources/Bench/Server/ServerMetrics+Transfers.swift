import BenchHarness
import Bodega
import BodegaRemote
import Foundation

extension ServerMetrics {
    static let transfers = [
        Metric("server.read.bulk", baseline: "the engine, in process", maximum: 3) { try await bulkRead($0) },
        Metric("server.sync.time", baseline: "30 s", maximum: 1) { plan in
            let report = try await synchronization(plan)
            return Outcome(items: report.items, ours: .milliseconds(report.milliseconds), baseline: .seconds(30))
        },
        Metric("server.sync.memory", baseline: "128 MB", maximum: 1) { plan in
            let report = try await synchronization(plan)
            return Outcome(items: report.items, oursBytes: report.peak, baselineBytes: 128_000_000)
        },
    ]

    private static func bulkRead(_ plan: Plan) async throws -> Outcome {
        let count = plan.size(100_000)
        return try await withServer(plan, items: count) { child, notes in
            let token = try child.token()
            let remote = try await RemoteStorageEngine(connecting: child.url(), collection: "notes") { token }
            func time(_ engine: any StorageBackend) async throws -> Duration {
                let (time, items) = try await timed { try await engine.fetchAll() }
                try verify(items.count, equals: count, "items")
                try verify(items.last?.data, equals: ServedNotes.data(count - 1), "the last item")
                return time
            }
            return try await compare(
                items: count, runs: plan.runs, ours: { try await time(remote) }, baseline: { try await time(notes) })
        }
    }

    private static func synchronization(_ plan: Plan) async throws -> SynchronizingChild.Report {
        let count = plan.size(1_000_000)
        return try await withServer(plan, items: count) { child, _ in
            let report = try SynchronizingChild(url: child.url(), token: child.token()).run()
            try verify(report.items, equals: count, "items of the client")
            try verify(report.bytes, equals: count * ServedNotes.bytes, "bytes of the client")
            return report
        }
    }
}
